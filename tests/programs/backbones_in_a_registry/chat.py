from bot.model import Bot


def main():
    bot = Bot()
    while True:
        print(bot.reply(input("> ")))


if __name__ == "__main__":
    main()
