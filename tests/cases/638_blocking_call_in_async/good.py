import asyncio
from concurrent.futures import ThreadPoolExecutor

import discord
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("facebook/bart-large-cnn")
model = AutoModelForSeq2SeqLM.from_pretrained("facebook/bart-large-cnn")
bot = discord.Client(intents=discord.Intents.default())
pool = ThreadPoolExecutor(max_workers=1)


class Summaries:
    def __init__(self):
        self.kept = {}

    def make(self, text):
        encoded = tokenizer([text], return_tensors="pt", truncation=True, max_length=1024)
        if encoded["input_ids"].shape[1] == 1024:
            print("the text was cut")
        ids = model.generate(**encoded, max_new_tokens=80)
        return tokenizer.batch_decode(ids, skip_special_tokens=True)[0]

    async def of(self, message):
        if message.id not in self.kept:
            self.kept[message.id] = await asyncio.get_running_loop().run_in_executor(pool, self.make, message.content)
        return self.kept[message.id]


summaries = Summaries()


@bot.event
async def on_message(message):
    await message.reply(await summaries.of(message))
