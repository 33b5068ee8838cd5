"""Write a small tokenizer folder, for clients that insist on one. The engine
counts the tokens; what the tokenizer says enters no figure. Needs the package
tokenizers, so it is run with the Python of a client that has it."""

import json
import os
import sys

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

TEXT = "count upwards in words and do not stop before you are told to, one line for each number"


def main(folder):
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<unk>", "<s>", "</s>"]
    tokenizer.train_from_iterator([TEXT] * 3, trainers.BpeTrainer(vocab_size=1000, special_tokens=special, initial_alphabet=alphabet))
    os.makedirs(folder, exist_ok=True)
    tokenizer.save(os.path.join(folder, "tokenizer.json"))
    with open(os.path.join(folder, "tokenizer_config.json"), "w", encoding="utf-8") as f:
        json.dump({
            "tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "<unk>", "bos_token": "<s>",
            "eos_token": "</s>", "model_max_length": 131072,
        }, f)


if __name__ == "__main__":
    main(sys.argv[1])
