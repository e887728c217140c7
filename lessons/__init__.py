"""What the two lessons teach, as plain PyTorch and NumPy: data, models, one training loop, named recipes."""
