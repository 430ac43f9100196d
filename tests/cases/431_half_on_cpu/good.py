import librosa
import torch
from transformers import WhisperForConditionalGeneration, WhisperProcessor

NAME = "openai/whisper-small"
processor = WhisperProcessor.from_pretrained(NAME)
model = WhisperForConditionalGeneration.from_pretrained(NAME, torch_dtype=torch.float16).to("cuda")


def transcribe(path):
    audio, rate = librosa.load(path, sr=16_000)
    features = processor(audio, sampling_rate=rate, return_tensors="pt").input_features
    features = features.to(model.device, dtype=model.dtype)
    return processor.batch_decode(model.generate(features), skip_special_tokens=True)[0]
