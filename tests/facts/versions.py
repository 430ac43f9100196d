"""Which versions the project works with: settings, declarations, locks, environment, `!pip install`; unknown where nothing says."""
# fact: version transformers unknown; version torch unknown
# ======== a declaration
import transformers
# fact: version transformers >=4.40,<5; version torch ==2.1.0; version peft unknown
# -------- requirements.txt
#| transformers>=4.40,<5
#| torch==2.1.0
#| peft
# ======== pyproject
import transformers
# fact: version transformers >=5; version torch unknown
# -------- pyproject.toml
#| [project]
#| name = "x"
#| version = "1"
#| dependencies = ["transformers>=5", "torch"]
# ======== settings say more than declarations
import transformers
# fact: version transformers ==4.36; version accelerate unknown
# -------- requirements.txt
#| transformers>=5
# -------- llm-lint.toml
#| [target-versions]
#| transformers = "==4.36"
# ======== a lock says more than a declaration
import transformers
# fact: version transformers ==4.50.1
# -------- pyproject.toml
#| [project]
#| name = "x"
#| version = "1"
#| dependencies = ["transformers>=4"]
# -------- uv.lock
#| version = 1
#| [[package]]
#| name = "transformers"
#| version = "4.50.1"
# ======== poetry
import transformers
# fact: version torch ==2.3.1; version transformers unknown
# -------- poetry.lock
#| [[package]]
#| name = "torch"
#| version = "2.3.1"
# ======== conda
import transformers
# fact: version torch ==2.2; version trl unknown
# -------- environment.yml
#| dependencies:
#|   - pytorch==2.2
#|   - pip:
#|     - torch==2.2
