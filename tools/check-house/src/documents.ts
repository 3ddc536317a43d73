import { posix } from 'node:path';
import { type Finding, type SourceTree, sources } from './tree.js';

/** Pages that a newcomer reads whole, and how many lines they have at most. */
const LINES_MAX: readonly [path: string, lines: number][] = [
  ['README.md', 140],
  ['docs/decisions.md', 60],
];
/** Pages that tell of earlier states: the names in them were true. */
const HISTORY = /^(?:CHANGELOG\.md|docs\/adr\/.*)$/;
const CODE = /(?<!`)`([^`\n]+)`(?!`)/g;
const LINK = /\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)/g;
const FILE = /^(?:[\w@*][\w.@*-]*\/)*[\w@*][\w.@*-]*\.(?:tsx?|mjs|mts|py|sql|lua)$/;
const ROOTED = /^(?:\.ci|apps|deploy|docs|e2e|lab|libs|tools)\/[\w./@*-]*$/;
const MEMBER = /^([A-Z]\w*)\.([a-z]\w*)(?:\(.*\))?$/;
const FENCE = /^```(\w*)$/;

/** Pages within their length, whose links, files and `Class.member` names are there. */
export function documentFaults(tree: SourceTree): Finding[] {
  const names = new Names(tree);
  return [
    ...LINES_MAX.flatMap(([path, lines]) => lengthFaults(tree, path, lines)),
    ...[...tree].flatMap(([path, text]) => {
      if (!path.endsWith('.md') || HISTORY.test(path)) return [];
      return text.split('\n').flatMap((line, at) => {
        const missing = [...linksOf(line, path, names), ...namesOf(line, path, names)];
        return missing.map((message) => ({ rule: 'document', path, line: at + 1, message }));
      });
    }),
    ...[...tree].flatMap(([path, text]) => (path.endsWith('.md') ? drawnFiles(path, text, names) : [])),
  ];
}

function lengthFaults(tree: SourceTree, path: string, max: number): Finding[] {
  const lines = tree.get(path)?.trimEnd().split('\n').length ?? 0;
  return lines > max ? [{ rule: 'document-size', path, message: `${lines} lines, at most ${max}` }] : [];
}

function linksOf(line: string, path: string, names: Names): string[] {
  return [...line.matchAll(LINK)]
    .map(([, target]) => posix.join(posix.dirname(path), target))
    .filter((target) => !names.hasPath(target))
    .map((target) => `no ${target} to lead to`);
}

function namesOf(line: string, path: string, names: Names): string[] {
  return [...line.matchAll(CODE)].flatMap(([, code]) => {
    const member = MEMBER.exec(code);
    if (member !== null && path.endsWith('README.md'))
      return names.hasMember(member[1], member[2]) ? [] : [`no ${code} in the sources`];
    if (FILE.test(code)) return names.hasFile(code) ? [] : [`no file ${code}`];
    if (ROOTED.test(code))
      return names.hasPath(code) || names.hasStem(code) ? [] : [`no ${code} in the repository`];
    return [];
  });
}

/** Files in the drawings of a page: fenced blocks of no language. */
function drawnFiles(path: string, text: string, names: Names): Finding[] {
  if (HISTORY.test(path)) return [];
  let language: string | null = null;
  return text.split('\n').flatMap((line, at) => {
    const fence = FENCE.exec(line);
    if (fence !== null) language = language === null ? fence[1] : null;
    const word = /^ *(\S+)/.exec(line)?.[1] ?? '';
    if (fence !== null || language !== '' || !FILE.test(word) || names.hasFile(word)) return [];
    return [{ rule: 'document', path, line: at + 1, message: `no file ${word}` }];
  });
}

const DECLARED = /\b(?:class|interface|type|const|enum) ([A-Z]\w*)/g;

interface Declared {
  name: string;
  text: string;
}

/** Paths and declared names of a tree. */
class Names {
  private readonly folders = new Set<string>(['.']);
  /** Paths by the name of their file. */
  private readonly lastNames: ReadonlyMap<string, readonly string[]>;
  /** Sources by the names that they declare. */
  private readonly declared: ReadonlyMap<string, readonly Declared[]>;

  constructor(private readonly tree: SourceTree) {
    for (const path of tree.keys()) {
      const steps = path.split('/');
      for (let length = 1; length < steps.length; length += 1)
        this.folders.add(steps.slice(0, length).join('/'));
    }
    this.lastNames = Map.groupBy(tree.keys(), lastName);
    this.declared = Map.groupBy(
      sources(tree).flatMap(([, text]) => [...text.matchAll(DECLARED)].map(([, name]) => ({ name, text }))),
      ({ name }) => name,
    );
  }

  /** True for a file or folder of the tree; `*` stands for any part of a name. */
  hasPath(path: string): boolean {
    const plain = posix.normalize(path).replace(/\/$/, '');
    if (this.tree.has(plain) || this.folders.has(plain)) return true;
    if (!plain.includes('*')) return false;
    const pattern = globOf(plain, '^');
    return [...this.tree.keys(), ...this.folders].some((one) => pattern.test(one));
  }

  /** True for the beginning of a file's name, as `npm run drills` takes one. */
  hasStem(path: string): boolean {
    return [...this.tree.keys()].some((one) => one.startsWith(`${path}.`));
  }

  /** True where a path of the tree ends in this one: pages name files from their own folder. */
  hasFile(end: string): boolean {
    if (end.includes('*')) return [...this.tree.keys()].some((one) => globOf(end, '(?:^|/)').test(one));
    return (this.lastNames.get(lastName(end)) ?? []).some((path) => path === end || path.endsWith(`/${end}`));
  }

  /** True where a source that declares the name has the member; names of the language are not judged. */
  hasMember(name: string, member: string): boolean {
    if (name in globalThis) return true;
    return (this.declared.get(name) ?? []).some(({ text }) => new RegExp(`\\b${member}\\b`).test(text));
  }
}

function globOf(path: string, begin: string): RegExp {
  const escaped = path.replace(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^/]*');
  return new RegExp(`${begin}${escaped}$`);
}

function lastName(path: string): string {
  return posix.basename(path);
}
