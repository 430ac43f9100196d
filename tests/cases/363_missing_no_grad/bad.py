import gymnasium
import torch
from torch.distributions import Categorical


class Policy(torch.nn.Module):
    def __init__(self, observations, actions):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(observations, 64), torch.nn.Tanh(), torch.nn.Linear(64, actions)
        )

    def forward(self, observation):
        return self.layers(observation)


def episode(policy, env):
    """Log-probabilities, with their graphs, and rewards."""
    observation, _ = env.reset()
    logs, rewards, done = [], [], False
    while not done:
        choice = Categorical(logits=policy(torch.as_tensor(observation)))
        action = choice.sample()
        logs.append(choice.log_prob(action))
        observation, reward, terminated, truncated, _ = env.step(action.item())
        rewards.append(reward)
        done = terminated or truncated
    return logs, rewards


def evaluate(policy, env, episodes=10):
    policy.eval()
    total = 0.0
    for _ in range(episodes):
        observation, _ = env.reset()
        done = False
        while not done:
            logits = policy(torch.as_tensor(observation))  # EXPECT: missing_no_grad
            observation, reward, terminated, truncated, _ = env.step(logits.argmax().item())
            total += reward
            done = terminated or truncated
    policy.train()
    return total / episodes


def main():
    torch.manual_seed(0)
    env = gymnasium.make("CartPole-v1")
    policy = Policy(4, 2)
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    for step in range(500):
        logs, rewards = episode(policy, env)
        returns = torch.tensor(rewards).flip(0).cumsum(0).flip(0)
        loss = -(torch.stack(logs) * returns).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            print(step, evaluate(policy, env))


if __name__ == "__main__":
    main()
