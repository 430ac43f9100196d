/** The view "Shapes": what the probe found, one tree for each model that was checked. */

import {
  commands,
  EventEmitter,
  MarkdownString,
  Range,
  ThemeIcon,
  TreeItem,
  TreeItemCollapsibleState,
  Uri,
  window,
} from "vscode";
import type { Disposable, TreeDataProvider, TreeView } from "vscode";
import type { ProbeMessage } from "./result";
import { shapeTrees } from "./tree";
import type { ShapeNode } from "./tree";

export class ShapesView implements TreeDataProvider<ShapeNode>, Disposable {
  private readonly changed = new EventEmitter<undefined>();
  private readonly roots = new Map<string, ShapeNode>();
  private readonly owners = new WeakMap<ShapeNode, ShapeNode>();
  private readonly view: TreeView<ShapeNode>;

  readonly onDidChangeTreeData = this.changed.event;

  constructor() {
    this.view = window.createTreeView("llmLint.shapes", { treeDataProvider: this, showCollapseAll: true });
  }

  dispose(): void {
    this.view.dispose();
    this.changed.dispose();
  }

  /** Shows a result, in the place of an older one of the same model; the newest stands first. */
  async show(message: ProbeMessage): Promise<void> {
    const trees = shapeTrees(message);
    // The last one that is set stands first.
    for (const root of [...trees].reverse()) {
      const key = `${message.uri} ${root.label}`;
      this.roots.delete(key);
      this.roots.set(key, root);
      this.remember(root);
    }
    await commands.executeCommand("setContext", "llmLint.hasShapes", true);
    this.changed.fire(undefined);
    const [first] = trees;
    if (message.asked && first !== undefined) {
      await this.view.reveal(first, { focus: false, select: true, expand: true });
    }
  }

  clear(): void {
    this.roots.clear();
    void commands.executeCommand("setContext", "llmLint.hasShapes", false);
    this.changed.fire(undefined);
  }

  getChildren(node?: ShapeNode): ShapeNode[] {
    return node === undefined ? [...this.roots.values()].reverse() : [...node.children];
  }

  getParent(node: ShapeNode): ShapeNode | undefined {
    return this.owners.get(node);
  }

  getTreeItem(node: ShapeNode): TreeItem {
    const item = new TreeItem(node.label, collapsible(node));
    item.description = node.description;
    if (node.icon !== "") {
      item.iconPath = new ThemeIcon(node.icon);
    }
    if (node.tooltip !== "") {
      item.tooltip = new MarkdownString(node.tooltip);
    }
    if (node.place !== undefined) {
      const row = node.place.line - 1;
      const where = { selection: new Range(row, 0, row, 0) };
      item.command = { command: "vscode.open", title: "Open", arguments: [Uri.file(node.place.file), where] };
    } else if (node.copies !== undefined) {
      item.command = { command: "llmLint.copy", title: "Copy", arguments: [node.copies] };
    }
    return item;
  }

  private remember(owner: ShapeNode): void {
    for (const child of owner.children) {
      this.owners.set(child, owner);
      this.remember(child);
    }
  }
}

function collapsible(node: ShapeNode): TreeItemCollapsibleState {
  if (node.children.length === 0) {
    return TreeItemCollapsibleState.None;
  }
  return node.isExpanded ? TreeItemCollapsibleState.Expanded : TreeItemCollapsibleState.Collapsed;
}
