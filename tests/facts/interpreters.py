"""The user's interpreter: a virtual environment beside the settings, read and never started; unknown where there is none."""
import transformers
# fact: version transformers ==4.44.2; version torch ==2.4.1; version peft unknown
# -------- .venv/pyvenv.cfg
#| home = /usr/bin
# -------- .venv/lib/python3.12/site-packages/transformers-4.44.2.dist-info/METADATA
#| Metadata-Version: 2.1
#| Name: transformers
#| Version: 4.44.2
# -------- .venv/lib/python3.12/site-packages/torch-2.4.1.dist-info/METADATA
#| Metadata-Version: 2.1
#| Name: torch
#| Version: 2.4.1
# ======== a folder named `venv`
import transformers
# fact: version trl ==0.9.1; version transformers unknown
# -------- venv/pyvenv.cfg
#| home = /usr/bin
# -------- venv/lib/python3.12/site-packages/trl-0.9.1.dist-info/METADATA
#| Metadata-Version: 2.1
#| Name: trl
#| Version: 0.9.1
# ======== a declaration says more than what happens to be installed
import transformers
# fact: version transformers >=5; version torch ==2.4.1
# -------- requirements.txt
#| transformers>=5
# -------- .venv/pyvenv.cfg
#| home = /usr/bin
# -------- .venv/lib/python3.12/site-packages/transformers-4.44.2.dist-info/METADATA
#| Metadata-Version: 2.1
#| Name: transformers
#| Version: 4.44.2
# -------- .venv/lib/python3.12/site-packages/torch-2.4.1.dist-info/METADATA
#| Metadata-Version: 2.1
#| Name: torch
#| Version: 2.4.1
# ======== what has an environment's name and is none
import transformers
# fact: version transformers unknown; version torch unknown
# -------- .venv/lib/python3.12/site-packages/notes.txt
#| transformers 4.44.2
