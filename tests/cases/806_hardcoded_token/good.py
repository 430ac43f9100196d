import os

import wandb
from huggingface_hub import HfApi
from transformers import AutoModelForSequenceClassification, AutoTokenizer

REPO = "acme/ticket-router"
REVISION = "4f1c6d8b2a9e0357d1c84b6f7a2e90d3c5b81f64"


class Publisher:
    def __init__(self, folder):
        self.folder = folder
        self.api = HfApi(token=os.environ["HF_TOKEN"])

    def publish(self):
        """Set HF_TOKEN=hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx first."""
        self.api.upload_folder(repo_id=REPO, folder_path=self.folder, revision=REVISION)
