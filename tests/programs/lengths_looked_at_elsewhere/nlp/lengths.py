import warnings


def warn_if_cut(mask, limit):
    longest = int(mask.sum(dim=-1).max())
    if longest >= limit:
        warnings.warn(f"a text has {longest} tokens or more", stacklevel=2)
