import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document, type Node } from 'yaml';

/** Names of members and places in lists, from the top of the file. */
export type Path = readonly (string | number)[];

/** A map of the file. Every scalar is the text that stands there, so that no price passes through a float. */
export type Tree = Readonly<Record<string, unknown>>;

/** A file that cannot be read; the message is for people. */
export class NotReadable extends Error {}

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the text of a member; null where it is absent, null or no text. */
export function textOf(tree: Tree, name: string): string | null {
  const { [name]: value } = tree;
  return typeof value === 'string' && !/^(?:null|~|)$/i.test(value) ? value : null;
}

export function treeOf(tree: Tree, name: string): Tree {
  const { [name]: value } = tree;
  return isTree(value) ? value : {};
}

export function listOf(tree: Tree, name: string): readonly unknown[] {
  const { [name]: value } = tree;
  return Array.isArray(value) ? value : [];
}

/** A configuration file of LiteLLM's. */
export class ConfigFile {
  readonly root: Tree;
  private readonly document: Document.Parsed;
  private readonly lines = new LineCounter();

  /** Throws NotReadable. */
  constructor(
    text: string,
    private readonly name = 'config.yaml',
  ) {
    this.document = parseDocument(text, {
      schema: 'failsafe',
      merge: true,
      prettyErrors: false,
      lineCounter: this.lines,
    });
    const [fault] = this.document.errors;
    if (fault !== undefined)
      throw new NotReadable(`${name}, line ${this.lines.linePos(fault.pos[0]).line}: ${fault.message}`);
    const value: unknown = this.document.toJS({ maxAliasCount: 1_000 });
    if (!isTree(value)) throw new NotReadable(`${name} is no map of settings`);
    this.root = value;
  }

  /** Returns the file, the line and the names that lead there. */
  place(path: Path): string {
    const names = path
      .map((step, index) => (typeof step === 'number' ? `[${step}]` : `${index === 0 ? '' : '.'}${step}`))
      .join('');
    return `${this.name}, line ${this.lines.linePos(this.offsetOf(path)).line}: ${names}`;
  }

  private offsetOf(path: Path): number {
    let node = this.document.contents as Node | null;
    let offset = 0;
    for (const step of path) {
      if (isAlias(node)) node = node.resolve(this.document) ?? null;
      const pair = isMap(node)
        ? node.items.find(({ key }) => isScalar(key) && key.value === step)
        : undefined;
      const next = (isSeq(node) ? node.items[Number(step)] : pair?.value) as Node | null | undefined;
      const named = ((pair?.key as Node | undefined) ?? next)?.range?.[0];
      if (named === undefined) return offset;
      offset = named;
      node = next ?? null;
    }
    return offset;
  }
}
