/** A profile as the inspector's Profiler.stop returns it. */
export interface CpuProfile {
  nodes: {
    id: number;
    callFrame: { functionName: string; url: string; lineNumber: number };
    children?: number[];
  }[];
  samples: number[];
  timeDeltas: number[];
}

/** A call tree: microseconds of the function with what it calls, and by itself. */
export interface Call {
  name: string;
  /** Part of the program: a lib of ours, a package, a module of Node. */
  place: string;
  totalUs: number;
  selfUs: number;
  callees: Map<string, Call>;
}

/** A sample that took longer did not compute: the thread had lost its processor. */
const PREEMPTED_US = 20_000;

const OF_THE_ENGINE = new Set(['(idle)', '(program)', '(garbage collector)', '(root)']);

/** `libs/journal`, `services/edge`, `fastify`, `node:http`, or what the engine itself does. */
function placeOf(url: string, functionName: string): string {
  if (OF_THE_ENGINE.has(functionName)) return functionName;
  const ours = /\/dist\/(libs\/services\/[^/]+|(?:libs|apps)\/[^/]+)\//.exec(url);
  if (ours) return ours[1].replace('libs/', '');
  const packages = url.split('/node_modules/');
  if (packages.length > 1)
    return /^(@[^/]+\/[^/]+|[^/]+)/.exec(packages[packages.length - 1])?.[1] ?? 'packages';
  if (url.startsWith('node:')) return url.split('/').slice(0, 2).join('/');
  return url === '' ? '(native)' : url;
}

/** The samples as one tree; what the engine spends without a caller stands beside our own calls. */
export function callTree({ nodes, samples, timeDeltas }: CpuProfile): Call {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const calls = new Map<number, Call>();
  const call = (name: string, place: string): Call => ({
    name,
    place,
    totalUs: 0,
    selfUs: 0,
    callees: new Map(),
  });
  const root = call('(root)', '(root)');
  const callOf = (id: number): Call => {
    const known = calls.get(id);
    if (known) return known;
    const node = byId.get(id);
    const parent = parents.get(id);
    if (node === undefined || parent === undefined) return root;
    const { functionName, url, lineNumber } = node.callFrame;
    const place = placeOf(url, functionName);
    const name =
      functionName === '' ? `(anonymous ${url.split('/').at(-1)}:${lineNumber + 1})` : functionName;
    const under = callOf(parent).callees;
    const key = `${name} ${place}`;
    const found = under.get(key) ?? call(name, place);
    under.set(key, found);
    calls.set(id, found);
    return found;
  };
  for (const [at, id] of samples.entries()) callOf(id).selfUs += Math.min(timeDeltas[at] ?? 0, PREEMPTED_US);
  const add = (of: Call): number => {
    of.totalUs = of.selfUs;
    for (const callee of of.callees.values()) of.totalUs += add(callee);
    return of.totalUs;
  };
  add(root);
  return root;
}

interface Cost {
  selfUs: number;
  totalUs: number;
}

/** Microseconds by a name that each call has; recursion counts once. */
function costs(root: Call, nameOf: (call: Call) => string): [string, Cost][] {
  const found = new Map<string, Cost>();
  const walk = (call: Call, above: ReadonlySet<string>): void => {
    const name = nameOf(call);
    const cost = found.get(name) ?? { selfUs: 0, totalUs: 0 };
    found.set(name, cost);
    cost.selfUs += call.selfUs;
    if (!above.has(name)) cost.totalUs += call.totalUs;
    const here = above.has(name) ? above : new Set(above).add(name);
    for (const callee of call.callees.values()) walk(callee, here);
  };
  for (const call of root.callees.values()) walk(call, new Set());
  return [...found];
}

const FUNCTIONS = 40;

/** Returns the microseconds of a request by place and by function, in Markdown. */
export function costTable(profile: CpuProfile, requests: number): string {
  const root = callTree(profile);
  const us = (value: number): string => (value / requests).toFixed(1);
  const table = (what: string, lines: [string, Cost][]): string[] => [
    `| ${what} | self µs/request | with what it calls |`,
    '|---|---|---|',
    ...lines.map(([name, { selfUs, totalUs }]) => `| ${name} | ${us(selfUs)} | ${us(totalUs)} |`),
    '',
  ];
  const bySelf = (entries: [string, Cost][]): [string, Cost][] =>
    entries.sort(([, a], [, b]) => b.selfUs - a.selfUs).filter(([, { selfUs }]) => selfUs / requests >= 0.1);
  return [
    ...table('place', bySelf(costs(root, ({ place }) => place))),
    ...table(
      'function',
      bySelf(costs(root, ({ name, place }) => `\`${name}\` (${place})`)).slice(0, FUNCTIONS),
    ),
  ].join('\n');
}
