"""What is compared: one file per method, each a PEFT tuner that works outside the harness too."""
