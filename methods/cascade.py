"""CASCADE: three experts in three domains update each linear layer, and the token weighs them.

    y          = W0 x + sum_e w_e(x) dW_e x   for e in dct, wav, spatial               eq. 2
    dW_dct     = C_m^T S_dct C_n   with S_dct[i_k, j_k] = s_k, zero elsewhere          eq. 3, 4
    dW_wav     = H_m^T [0, B~_LH; B~_HL, B~_HH] H_n   with B_b zero but at I_b         eq. 5, 6
    dW_spatial = B A                                                                   eq. 7
    (gamma_b, beta_b) = g(s)   for b in LH, HL, HH                                     eq. 8
    B~_b       = (1 + gamma_b) B_b + beta_b   at I_b                                   eq. 9
    h          = W_spec x_spec + W_sem x                                               eq. 10
    w          = softmax(W_out h)                                                      eq. 11
    L          = L_task + lambda_bal L_bal + lambda_orth L_orth                        eq. 12
    L_bal      = E sum_e (mean over tokens of w_e)^2                                   eq. 13
    L_orth     = |<s, (B_LH, B_HL, B_HH)>|, both cut to the shorter                    eq. 14

W0 is of shape (m, n), x of (n,). C_m (m, m) is the orthonormal DCT-II basis, row i of frequency i.
H_m (m, m) is the orthonormal Haar analysis of one level: first the low-pass half, all
(x_2k + x_2k+1) / sqrt 2, then the high-pass half, all (x_2k - x_2k+1) / sqrt 2. Start values: s, of
shape (K_dct,), and the B_b, of (K_wav,) together, zero; A (r, n) uniform as Kaiming, B (m, r) zero;
g, a network K_dct -> d_g -> 6 with biases and SiLU in between, as PyTorch draws it, its second
layer zero; W_spec (d_h, 3) and W_sem (d_h, n) uniform as Kaiming, W_out (E, d_h) zero. So training
starts at W0 and with equal weights. One layer has

    K_dct + K_wav + r (m + n) + (d_g (K_dct + 1) + 6 (d_g + 1)) + d_h (3 + n + E)

parameters. It cannot be merged, since w depends on the token. No m x n update is formed, forward or
backward: the s_k lie in a corner (p, q) of S_dct, 199 x 200 with the default K_dct, so that
C_m^T (S_dct (C_n x)) takes p m + p q + q n multiplications a token, and H_m^T (B~ (H_n x)) takes
K_wav besides its pairwise sums.

Coarse-to-Fine Spectral Cascading for Parameter-Efficient LLM Adaptation, submitted to IJCAI 2026,
section "Method" and appendix "CASCADE Configuration". What the paper leaves open, and the choice
made:

- Ties among the K_dct lowest frequencies i + j: the smaller i first, which is the frequency along
  the outputs. The s_k are in this order.
- The bands: the first letter is for the rows (outputs), the second for the columns (inputs), so LH
  is low-pass over outputs and high-pass over inputs. K_wav is split evenly; of what is left over HH
  takes one, then HL. The places of a band are drawn without replacement, the same for layers of
  equal shape, and its coefficients are in row-major order. Places are not saved, but drawn again
  from `seed`.
- The pooling window of the router: the token itself, w_e(x) as eq. 2 writes. A token's weights
  depend on no other token, so decoding can cache keys and values, and padding and batch change
  nothing. The mean of what the token sees is the variant `prefix-pooling`, the literal mean over
  the sequence is `sequence-pooling`.
- The spectral statistics x_spec, of the token's channels. With e_L and e_H the sums of squares of
  the low-pass and of the high-pass half of H_n x, each divided by n, plus 1e-6, and e = e_L + e_H,
  they are ln e; the high-frequency ratio p = e_H / e; and the spectral entropy
  -p ln p - (1 - p) ln (1 - p). Gradients flow through them. There is no zero-crossing rate: it
  jumps where a channel is near zero, so that rounding, which differs between cached and uncached
  decoding, would move the weights.
- Activations: SiLU in g; none in the router, as eq. 10 and 11 have none.
- The order of g's outputs: gamma of LH, HL, HH, then beta of LH, HL, HH.
- A factor before BA, as LoRA's alpha / r: none.
- L_bal and L_orth: the mean over the adapted layers. A "sample" of eq. 13 is a token of the batch;
  padding counts, since an adapter cannot tell it from text.
- The common space of L_orth: the first min(K_dct, K_wav) of both in their order, so that with the
  default numbers only the lower half of s is held. The B_b are those before eq. 9.

Variants: `no-dct` and `no-wavelet` (either also takes away modulation and L_orth, which need both),
`no-spatial` and `no-modulation` are the paper's ablations, `uniform-routing` (w_e = 1 / E, neither
router nor L_bal) is one more; softmax and E are over the experts present. `prefix-pooling` puts
the mean of x over the token and those before it in place of x in eq. 10, with its statistics. It
is causal; padding that the attention mask tells does not count. Decoding continues the sums with
the key-value cache (`tuners/prefix.py`), except in beam search, which is refused.
`sequence-pooling` puts the mean over all tokens of the sequence there. A token's weights then see
the tokens that follow it: decoding with the cache and without it differ, and padding and batch
change the output. `small` fits layers of 32 x 32.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from methods.contract import Method
from methods.tuners.adapter import Adapter
from methods.tuners.autocast import without_autocast
from methods.tuners.config import NativeConfig, require
from methods.tuners.cosine import LowDCT
from methods.tuners.formed import Formed
from methods.tuners.frequencies import BANDS, Details, corner, details
from methods.tuners.haar import Haar
from methods.tuners.layers import targeted
from methods.tuners.linear import LinearTuner
from methods.tuners.peft_types import register
from methods.tuners.prefix import Prefix
from methods.tuners.routing import Routed, RoutedTuner, RouterWeights, auxiliary_loss
from methods.tuners.shared import Shared, SharingTuner
from methods.tuners.spectra import Low, write

Routing = Literal["spectral", "uniform"]
Pooling = Literal["token", "prefix", "sequence"]

EXPERTS = ("dct", "wavelet", "spatial")
STATISTICS = 3
"""The spectral statistics of a token: log energy, high-frequency ratio, entropy."""

ENERGY_FLOOR = 1e-6
"""Added to the energy of each half of the spectrum, so that a zero token has statistics."""


@dataclass
class CascadeConfig(NativeConfig):
    """Hyperparameters of CASCADE, appendix "CASCADE Configuration" of the paper.

    Attributes:
        K_dct: Coefficients of the DCT expert, per layer.
        K_wav: Coefficients of the wavelet expert over its three bands, per layer.
        r: Rank of the spatial expert.
        d_g: Hidden size of g, which makes the modulation of the DCT coefficients.
        d_h: Hidden size of the router.
        dct: Whether there is a DCT expert.
        wavelet: Whether there is a wavelet expert.
        spatial: Whether there is a spatial expert.
        modulation: Whether the DCT coefficients modulate the wavelet coefficients; needs both.
        routing: Whether the token weighs the experts, or all have the same weight.
        pooling: What the router sees: the token, the mean of the tokens up to it, or the mean of
            its sequence.
        lambda_bal: Factor of the load-balancing loss.
        lambda_orth: Factor of the spectral orthogonality loss.
        seed: Decides the positions of the wavelet coefficients, together with the layer's shape.
        target_modules: Names of the linear layers, or "all-linear".
    """

    peft_type = "CASCADE"

    K_dct: int = 20_000
    K_wav: int = 10_000
    r: int = 48
    d_g: int = 16
    d_h: int = 16
    dct: bool = True
    wavelet: bool = True
    spatial: bool = True
    modulation: bool = True
    routing: Routing = "spectral"
    pooling: Pooling = "token"
    lambda_bal: float = 0.01
    lambda_orth: float = 0.01
    seed: int = 0
    target_modules: set[str] | str = "all-linear"

    @property
    def by_whole_sequences(self) -> bool:
        """Whether a token's weights depend on all tokens of the pass."""
        return self.pooling == "sequence"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.experts:
            raise ValueError("Nothing is left to train: keep the dct, wavelet or spatial expert.")
        require(self, "at least 1", lambda value: value >= 1, "K_dct", "K_wav", "r", "d_g", "d_h")
        require(self, "at least 0", lambda value: value >= 0, "lambda_bal", "lambda_orth", "seed")

    @property
    def experts(self) -> list[str]:
        """The experts of the configuration, in the paper's order."""
        return [name for name in EXPERTS if getattr(self, name)]

    @property
    def modulates(self) -> bool:
        """Whether there is a modulation: something to make it of, and something to modulate."""
        return self.modulation and self.dct and self.wavelet

    def check(self, m: int, n: int) -> None:
        """Check that the experts fit a layer (m, n).

        Raises:
            ValueError: One does not; names the field, its value and the limit.
        """
        if m % 2 or n % 2:
            raise ValueError(
                f"the layer is {m} x {n}: the Haar transform pairs channels, so both must be even."
            )
        limits = {
            "K_dct": (self.dct, m * n),
            "K_wav": (self.wavelet, BANDS * (m // 2) * (n // 2)),
            "r": (self.spatial, min(m, n)),
        }
        for name, (used, limit) in limits.items():
            if used and getattr(self, name) > limit:
                raise ValueError(
                    f"the layer is {m} x {n}: {name} may be at most {limit} there, "
                    f"not {getattr(self, name)}."
                )


class Router(nn.Module):
    """The weights of the experts, eq. 10 and 11."""

    def __init__(self, n: int, config: CascadeConfig) -> None:
        super().__init__()
        self.W_spec = nn.Parameter(torch.empty(config.d_h, STATISTICS))
        self.W_sem = nn.Parameter(torch.empty(config.d_h, n))
        self.W_out = nn.Parameter(torch.zeros(len(config.experts), config.d_h))
        for weight in (self.W_spec, self.W_sem):
            nn.init.kaiming_uniform_(weight, a=math.sqrt(5))

    def forward(self, x_spec: Tensor, semantic: Tensor) -> Tensor:
        """Map x_spec (tokens, 3) and W_sem x (tokens, d_h) to weights (tokens, E)."""
        h = torch.addmm(semantic, x_spec, self.W_spec.T)
        w: Tensor = (h @ self.W_out.T).softmax(-1)
        return w


def statistics(energies: Tensor) -> Tensor:
    """Map the mean energies of both halves (2, tokens) to x_spec (tokens, 3)."""
    floored = energies + ENERGY_FLOOR
    e = floored.sum(0)
    halves = floored / e
    return torch.stack([e.log(), halves[1], torch.special.entr(halves).sum(0)], dim=-1)


def analysed(x: Tensor) -> tuple[Tensor, Tensor]:
    """Map (..., n) to sqrt 2 H_n x, (n, tokens), and the statistics x_spec, (tokens, 3)."""
    n = x.shape[-1]
    u, energies = Haar.apply(x.reshape(-1, n))  # type: ignore[no-untyped-call]
    return u, statistics(energies / (2 * n))


def low_frequency(x: Tensor, q: int) -> Tensor:
    """Map (..., n) to the q lowest frequencies of each token, the rows of C_n x, (tokens, q)."""
    z: Tensor = LowDCT.apply(x.reshape(-1, x.shape[-1]), q)  # type: ignore[no-untyped-call]
    return z


def stacked(*rows: Tensor) -> Tensor:
    """Put rows below one another."""
    return torch.cat(rows)


class Cascade(Routed, Adapter):
    """The experts of one layer and their router. What is kept is the mean weight of each expert."""

    def __init__(self, linear: nn.Linear, config: CascadeConfig) -> None:
        super().__init__()
        self.m, self.n, self.config = linear.out_features, linear.in_features, config
        config.check(self.m, self.n)
        if config.dct:
            self.s = nn.Parameter(torch.zeros(config.K_dct))
        if config.wavelet:
            self.B_wav = nn.Parameter(torch.zeros(config.K_wav))
        if config.spatial:
            self.A = nn.Parameter(torch.empty(config.r, self.n))
            self.B = nn.Parameter(torch.zeros(self.m, config.r))
            nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.g: Any = modulator(config) if config.modulates else None
        self.router: Any = Router(self.n, config) if config.routing == "spectral" else None
        self.prefix, self.shared = Prefix(), Shared()
        self.spectrum, self.numbers, self.rows = Formed(), Formed(), Formed()

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., n) to the weighed sum of the experts, (..., m).

        In the adapter's precision throughout: autocast would mix two in one product.
        """
        with without_autocast(x):
            return self._update(x)

    def _update(self, x: Tensor) -> Tensor:
        u, x_spec = self.shared.get(self, x, analysed)
        a, semantic = self._products(x)
        w_dct, w_wavelet, w_spatial = self._weigh(x, x_spec, semantic)
        y = write(
            u,
            self._places(x).places,
            self._details(x),
            w_wavelet[:, 0],
            w_dct * self._frequencies(x),
            Low(w_spatial * a, self.B if self.config.spatial else x.new_empty(self.m, 0)),
        )
        return y.view(*x.shape[:-1], self.m)

    def _frequencies(self, x: Tensor) -> Tensor:
        """Return S_dct C_n x, of which p rows are not zero, (tokens, p)."""
        if not self.config.dct:
            return x.new_empty(x.numel() // self.n, 0)
        place = corner(self.m, self.n, self.config.K_dct, x.device)
        z: Tensor = self.shared.get(self, x, low_frequency, place.q)
        S_dct: Tensor = self.spectrum(place.filled, self.s)  # noqa: N806
        return z @ S_dct.T

    def _products(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return A x (tokens, r) and W_sem x (tokens, d_h); of no columns where there is none."""
        trained = [self.A] if self.config.spatial else []
        if self.router is not None and self.config.pooling == "token":
            trained.append(self.router.W_sem)
        tokens = x.reshape(-1, self.n)
        products = tokens @ self.rows(stacked, *trained).T if trained else tokens[:, :0]
        r = self.config.r * self.config.spatial
        return products[:, :r], products[:, r:]

    def _places(self, x: Tensor) -> Details:
        """Place the wavelet coefficients."""
        config = self.config
        return details(
            self.m, self.n, config.K_wav * config.wavelet, config.seed, (x.device, x.dtype)
        )

    def _details(self, x: Tensor) -> Tensor:
        """Return half of each wavelet coefficient, row by row, (K_wav,).

        Half, since `haar` is sqrt 2 H.
        """
        if not self.config.wavelet:
            return x.new_empty(0)
        parts = [self.B_wav]
        if self.g is not None:
            first, _, last = self.g
            # By name, since ZeRO-3 makes whole what is asked for by name in a forward pass.
            parts += [self.s, first.weight, first.bias, last.weight, last.bias]
        numbers: Tensor = self.numbers(lambda *_: self._modulated(self._places(x)) / 2, *parts)
        return numbers

    def _modulated(self, places: Details) -> Tensor:
        """Return the coefficients of all bands after eq. 9, row by row, (K_wav,)."""
        B_wav = self.B_wav.index_select(0, places.order)  # noqa: N806
        if self.g is None:
            return B_wav
        gamma, beta = (self.g(self.s).view(2, BANDS) @ places.bands).unbind()
        return torch.addcmul(beta, 1 + gamma, B_wav)

    def _weigh(self, x: Tensor, x_spec: Tensor, semantic: Tensor) -> list[Tensor]:
        """Return the weights of the three experts, (tokens, 1) each; zero for one that is not."""
        w = self._route(x, x_spec, semantic)
        if self.training:
            self.keep(w, self._loss(w.mean(0)))
        present = dict(zip(self.config.experts, w.split(1, dim=1), strict=True))
        return [present.get(name, w.new_zeros(len(w), 1)) for name in EXPERTS]

    def _route(self, x: Tensor, x_spec: Tensor, semantic: Tensor) -> Tensor:
        """Return the weights (tokens, E) of the experts of the configuration."""
        if self.router is None:
            experts = len(self.config.experts)
            return x.new_full((len(x_spec), experts), 1 / experts)
        if self.config.pooling == "token":
            routed: Tensor = self.router(x_spec, semantic)
            return routed
        by_prefix = self.config.pooling == "prefix"
        pooled = self.prefix.means(self, x) if by_prefix else x.mean(-2)
        _, x_spec = analysed(pooled)
        weights: Tensor = self.router(x_spec, pooled.reshape(-1, self.n) @ self.router.W_sem.T)
        return weights if by_prefix else weights.repeat_interleave(x.shape[-2], dim=0)

    def _loss(self, shares: Tensor) -> Tensor:
        """Return lambda_bal L_bal + lambda_orth L_orth of the mean weights (E,).

        In the forward pass, where ZeRO-3 has s and B_wav whole.
        """
        config, loss = self.config, shares.new_zeros(())
        if self.router is not None:
            loss = loss + config.lambda_bal * len(shares) * shares.square().sum()
        if config.dct and config.wavelet:
            k = min(config.K_dct, config.K_wav)
            loss = loss + config.lambda_orth * (self.s[:k] @ self.B_wav[:k]).abs()
        return loss

    def mean_weights(self) -> list[float]:
        """Return the mean weight of the DCT, wavelet and spatial expert, 0 for an absent one."""
        present = dict(zip(self.config.experts, super().mean_weights(), strict=True))
        return [present.get(name, 0.0) for name in EXPERTS]


def modulator(config: CascadeConfig) -> nn.Module:
    """Make g, whose first outputs are zero."""
    last = nn.Linear(config.d_g, 2 * BANDS)
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    return nn.Sequential(nn.Linear(config.K_dct, config.d_g), nn.SiLU(), last)


class CascadeModel(SharingTuner, RoutedTuner, LinearTuner):
    """Puts a `Cascade` beside every targeted linear layer."""

    adapter = Cascade
    not_mergeable = "the weights of its experts depend on the token."
    hooks: tuple[Any, ...] = ()

    def inject_adapter(self, model: nn.Module, *args: Any, **kwargs: Any) -> None:
        """Put an adapter on the model; all that pool over prefixes share what they must know."""
        super().inject_adapter(model, *args, **kwargs)
        pooled = [
            layer
            for layer in model.modules()
            if isinstance(layer, Cascade) and layer.config.pooling == "prefix"
        ]
        self._unhook()
        prefix = Prefix()
        self.hooks = tuple(prefix.watch(model)) if pooled else ()
        for layer in pooled:
            layer.prefix = prefix

    def _unhook(self) -> None:
        for hook in self.hooks:
            hook.remove()

    def _unload_and_optionally_merge(self, *args: Any, **kwargs: Any) -> Any:
        self._unhook()
        return super()._unload_and_optionally_merge(*args, **kwargs)

    def routers(self) -> dict[str, Any]:
        """List the active adapters by the name of their layer: each keeps its own weights."""
        return self.adapters()


register(CascadeConfig, CascadeModel)


def parameters(config: CascadeConfig, model: PreTrainedModel) -> int:
    """Count the formula of the module docstring over the targeted layers."""
    layers = targeted(config, model).values()
    return sum(_parameters(config, layer.out_features, layer.in_features) for layer in layers)


def _parameters(config: CascadeConfig, m: int, n: int) -> int:
    count = config.dct * config.K_dct + config.wavelet * config.K_wav
    count += config.spatial * config.r * (m + n)
    if config.modulates:
        count += config.d_g * (config.K_dct + 1) + 2 * BANDS * (config.d_g + 1)
    if config.routing == "spectral":
        count += config.d_h * (STATISTICS + n + len(config.experts))
    return count


method = Method(
    title="CASCADE",
    paper="Coarse-to-Fine Spectral Cascading for Parameter-Efficient LLM Adaptation",
    config=CascadeConfig,
    parameters=parameters,
    mergeable=False,
    quantized=("nf4", "int8"),
    by_token=lambda config: config.pooling == "token",
    unpacked="its balance loss is over all tokens of a batch, padding included",
    auxiliary_loss=auxiliary_loss,
    hooks=RouterWeights,
    variants={
        "no-dct": {"dct": False},
        "no-wavelet": {"wavelet": False},
        "no-spatial": {"spatial": False},
        "no-modulation": {"modulation": False},
        "uniform-routing": {"routing": "uniform"},
        "prefix-pooling": {"pooling": "prefix"},
        "sequence-pooling": {"pooling": "sequence"},
        "small": {"K_dct": 200, "K_wav": 100, "r": 8},
    },
)
