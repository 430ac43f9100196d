LIMITS = {"tokens": 4 * 256, "texts": 32}
