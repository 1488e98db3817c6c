"""Training by transformers' Trainer, with what a method does besides following its gradient."""

from typing import Any

from peft import PeftModel
from torch import Tensor, nn
from transformers import Trainer, TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from transformers.loss.loss_utils import ForCausalLMLoss

from methods.contract import Method
from methods.training.hooks import StepHooks, TrainingAhead
from methods.training.layer_selection import DynamicLayerSelection


class Moments(TrainerCallback):
    """Calls the hooks of a method at the moments that the Trainer tells its callbacks of.

    Attributes:
        hooks: Those of the training that began last.
    """

    def __init__(self, method: Method) -> None:
        self.method = method
        self.hooks: list[StepHooks] = []

    def on_train_begin(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: Any,
    ) -> None:
        """Set up the hooks."""
        model: PeftModel = kwargs["model"]
        ahead = TrainingAhead(state.max_steps, args.get_warmup_steps(state.max_steps), args.seed)
        self.hooks = [self.method.hooks(model, ahead)] if self.method.hooks else []
        if self.method.dls:
            self.hooks.append(DynamicLayerSelection(model, self.method.dls, ahead))

    def on_step_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Act before the first forward pass of the step."""
        for hook in self.hooks:
            hook.before_forward(state.global_step + 1)

    def on_optimizer_step(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Act on the parameters that have just moved."""
        for hook in self.hooks:
            hook.after_step(state.global_step + 1)


class MethodTrainer(Trainer):
    """transformers' Trainer for a model that `method` adapted.

    It adds the auxiliary loss in training, and calls the method's hooks and its layer selection in
    each step. The loss is the mean over tokens, taken from the logits, since PEFT adds AdaLoRA's
    regulariser to the model's own, at evaluation too. All else is the Trainer's.

    Raises:
        ValueError: The method has hooks, and they would see scaled gradients or none.
    """

    def __init__(self, *args: Any, method: Method, **kwargs: Any) -> None:
        super().__init__(*args, **{"compute_loss_func": mean_token_loss, **kwargs})
        self.method, self.moments = method, Moments(method)
        self.add_callback(self.moments)
        hidden = self.args.fp16 or self.is_deepspeed_enabled
        if hidden and (method.hooks or method.dls):
            raise ValueError(
                f"{method.title} acts on the gradients of each step, which fp16 scales and "
                "DeepSpeed keeps to itself. Train with bf16 or in float32, without DeepSpeed."
            )

    def compute_loss(
        self,
        model: nn.Module,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Tensor | int | None = None,
    ) -> Any:
        """Return the loss of a batch, and in training its share of the step's auxiliary loss."""
        loss, outputs = super().compute_loss(model, inputs, True, num_items_in_batch)
        if model.training and self.method.auxiliary_loss:
            adapted: Any = self.accelerator.unwrap_model(model)
            added = self.method.auxiliary_loss(adapted)
            loss = loss + added / self.current_gradient_accumulation_steps
        return (loss, outputs) if return_outputs else loss

    def training_step(self, *args: Any, **kwargs: Any) -> Tensor:
        """Add the gradients of a batch; once those of the step are whole, show them to the hooks.

        The Trainer's callbacks see gradients only after they are clipped.
        """
        loss = super().training_step(*args, **kwargs)
        if self.accelerator.sync_gradients:
            for hook in self.moments.hooks:
                hook.after_backward(self.state.global_step + 1)
        return loss


def mean_token_loss(
    outputs: Any, labels: Tensor, num_items_in_batch: Tensor | None = None
) -> Tensor:
    """Return the sum of the next-token losses over the tokens of the step, or else of the batch."""
    logits: Tensor = outputs.logits
    loss: Tensor = ForCausalLMLoss(
        logits, labels, logits.shape[-1], num_items_in_batch=num_items_in_batch
    )
    return loss
