import sys

import torch
from transformers import AutoModelForSpeechSeq2Seq, AutoProcessor

device = "cuda:0" if torch.cuda.is_available() else "cpu"
model_id = "openai/whisper-small"

model = AutoModelForSpeechSeq2Seq.from_pretrained(model_id, torch_dtype=torch.float16)  # EXPECT: half_on_cpu
model.to(device)
processor = AutoProcessor.from_pretrained(model_id)


def transcribe(samples, rate=16_000):
    features = processor(samples, sampling_rate=rate, return_tensors="pt").input_features
    ids = model.generate(features.to(device, torch.float16), max_new_tokens=200)
    return processor.batch_decode(ids, skip_special_tokens=True)[0]


if __name__ == "__main__":
    import soundfile

    samples, rate = soundfile.read(sys.argv[1])
    print(transcribe(samples, rate))
