import argparse

import torch
from sentiment import accuracy, load
from torch.utils.data import DataLoader


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batches", default="dev.pt")
    parser.add_argument("--device", default="cuda")
    args = parser.parse_args()
    tokenizer, model = load(args.device)
    rows = torch.load(args.batches, weights_only=True)
    loader = DataLoader(rows, batch_size=64)
    print(f"accuracy: {accuracy(model, loader, args.device):.3f}")


if __name__ == "__main__":
    main()
