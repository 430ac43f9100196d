"""Item: f-strings, concatenation, `%`, `.format`, methods of strings, paths."""

import os
import os.path as osp
import sys
from os.path import join
from pathlib import Path, PurePosixPath

FAMILY = "bert"
SIZE = 2
outside = sys.argv[1]

print(f"{FAMILY}-base")  # fact: passed 'bert-base'
print(f"{FAMILY}-{SIZE}")  # fact: passed 'bert-2'
print(f"{FAMILY!s}-base")  # fact: passed 'bert-base'
print(f"{SIZE:02d}")  # fact: passed '02'
print(f"{FAMILY}-{outside}")  # fact: passed unknown
print(f"{outside}")  # fact: passed unknown
print("bert" + "-" + "base")  # fact: passed 'bert-base'
print(FAMILY + outside)  # fact: passed unknown
print("bert-base")  # fact: passed 'bert-base'
print("%s-base" % FAMILY)  # fact: passed 'bert-base'
print("%s-%d" % (FAMILY, SIZE))  # fact: passed 'bert-2' by default
print("%(name)s" % {"name": FAMILY})  # fact: passed unknown
print("%s" % outside)  # fact: passed unknown
print("%s-%s" % (FAMILY, outside))  # fact: passed unknown
print("{}-base".format(FAMILY))  # fact: passed 'bert-base' by default
print("{0}-{size}".format(FAMILY, size=SIZE))  # fact: passed 'bert-2' by default
print("{}".format(outside))  # fact: passed unknown
print("{}{}".format(FAMILY))  # fact: passed unknown
print("-".join(["bert", "base"]))  # fact: passed 'bert-base'
print("-".join(("bert", "base")))  # fact: passed 'bert-base'
print("-".join([FAMILY, outside]))  # fact: passed unknown
print("BERT".lower())  # fact: passed 'bert'
print("bert-base".split("-")[0])  # fact: passed 'bert'
print("google/bert".rsplit("/", 1)[-1])  # fact: passed 'bert'
print("bert-base".removesuffix("-base"))  # fact: passed 'bert'
print("bert".replace("b", outside))  # fact: passed unknown
print("bert" * 2)  # fact: passed 'bertbert'
print("bert-base"[:4])  # fact: passed 'bert'
print("bert-base"[outside:])  # fact: passed unknown
print(str(SIZE))  # fact: passed '2'
print(int("2"))  # fact: passed 2
print(int(outside))  # fact: passed unknown

print(os.path.join("models", "bert"))  # fact: passed 'models/bert'
print(osp.join("models", FAMILY))  # fact: passed 'models/bert'
print(join("models", outside))  # fact: passed some os.path.join
print(Path("models") / "bert")  # fact: passed 'models/bert'
print(Path("models", FAMILY))  # fact: passed 'models/bert'
print(str(Path("models") / FAMILY))  # fact: passed 'models/bert'
print(PurePosixPath("models").joinpath("bert"))  # fact: passed 'models/bert'
print(Path("models/bert").as_posix())  # fact: passed 'models/bert'
print(os.fspath(Path("models/bert")))  # fact: passed 'models/bert'
print(Path(outside) / "bert")  # fact: passed unknown
print(Path("models") / outside)  # fact: passed unknown
print(Path.home() / "bert")  # fact: passed unknown
print(os.path.join(os.getcwd(), "bert"))  # fact: passed some os.path.join
print(outside + "bert")  # fact: passed unknown
print(Path(__file__).parent / "bert")  # fact: passed unknown
print(input("name"))  # fact: passed unknown
print(f"{os.environ['NAME']}")  # fact: passed unknown

# What would fill the memory is not computed.
print(f"{SIZE:>999999999}")  # fact: passed unknown
print("%999999999d" % SIZE)  # fact: passed unknown
print("%*d" % (999999999, SIZE))  # fact: passed unknown
print("{:>999999999}".format(SIZE))  # fact: passed unknown
long = "a" * 900
long = long.replace("a", long)
print("a" * 999_999_999)  # fact: passed unknown
print(long)  # fact: passed unknown
twice = "a" * 900
twice = twice + twice + twice + twice + twice + twice + twice + twice + twice + twice
twice = twice + twice + twice + twice + twice + twice + twice + twice + twice + twice
twice = twice + twice + twice + twice + twice + twice + twice + twice + twice + twice
print(twice)  # fact: passed unknown
number = 2**63
number = number * number
number = number * number * number
print(number)  # fact: passed unknown
