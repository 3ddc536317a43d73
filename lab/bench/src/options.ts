import { readFlags, refuseFlags } from '@gateway/platform/flags';

/** Another program that speaks the same API. */
interface Peer {
  name: string;
  /** null for one that the bench installs and starts by itself. */
  url: string | null;
  key: string;
  model: string;
}

/** Every group of rows, in the order in which it is measured. */
const GROUPS = [
  'plain',
  'foreign',
  'bodies',
  'ttft',
  'frames',
  'held',
  'left',
  'settle',
  'stalled',
  'memory',
  'size',
  'start',
  'admit',
  'ingestion',
] as const;
export type Group = (typeof GROUPS)[number];

export interface Options {
  seconds: number;
  rounds: number;
  /** Longest warm-up until the throughput is steady. */
  warmUpSeconds: number;
  /** Minutes of the memory row. */
  minutes: number;
  groups: ReadonlySet<Group>;
  /** Keys of the size row. */
  keys: number[];
  streams: number;
  stalledReaders: number;
  /** Callers that leave at once. */
  leaving: number;
  peers: Peer[];
  /** Folder of another built checkout, whose gateway takes turns with this one's. */
  against: string | null;
  jsonFile: string | null;
  markdownFile: string | null;
  writesDocs: boolean;
  profile: boolean;
}

const HELP = `usage: npm run bench -- [options]
  --only row,row     of: ${GROUPS.join(', ')}, none (default: all)
  --seconds N        of one round (5)            --rounds N    of each figure (5)
  --warm-up N        seconds at most (90)        --minutes N   of the memory row (1)
  --keys N,N         of the size row (5000,100000)
  --streams N        held at once (512)          --stalled N   readers that stop reading (1000)
  --leaving N        callers that leave at once (1000)
  --peer portkey     Portkey's gateway from npm, installed below .cache at its first use
  --peer name=URL[,key=…][,model=…]              another program that runs already; more than once
  --against DIR      another built checkout: its gateway takes turns with this one; plain alone unless --only is given
  --json FILE        the rows as JSON            --markdown FILE
  --write-docs       stores the rows in docs/performance/figures.json and writes docs/performance/figures.md
  --profile          a CPU profile of the edge's main thread, with a flame graph; alone unless --only is given
`;

function peerOf(text: string): Peer {
  if (text === 'portkey') return { name: text, url: null, key: 'bench', model: 'gpt-4o-mini' };
  const at = text.indexOf('=');
  const [url, ...rest] = text.slice(at + 1).split(',');
  if (at < 1 || !URL.canParse(url)) refuseFlags(`--peer ${text}: portkey or name=URL is expected`);
  const settings = new Map(rest.map((part) => part.split('=', 2) as [string, string]));
  return {
    name: text.slice(0, at),
    url: url.replace(/\/$/, ''),
    key: settings.get('key') ?? 'none',
    model: settings.get('model') ?? 'simulator/chat',
  };
}

function groupsOf(only: string | undefined, otherwise: readonly Group[]): Set<Group> {
  if (only === 'none') return new Set();
  if (only === undefined) return new Set(otherwise);
  const names = only.split(',');
  const unknown = names.filter((name) => !(GROUPS as readonly string[]).includes(name));
  if (unknown.length > 0) refuseFlags(`--only ${unknown.join(',')}: known are ${GROUPS.join(', ')}`);
  return new Set(GROUPS.filter((group) => names.includes(group)));
}

function numberOf(name: string, text: string, least: number): number {
  const value = Number(text);
  if (!(value >= least)) refuseFlags(`--${name} ${text}: a number of at least ${least} is expected`);
  return value;
}

/** Returns the groups that are measured without --only. */
function defaultGroups({ profile, against }: { profile: boolean; against?: string }): readonly Group[] {
  if (profile) return [];
  return against === undefined ? GROUPS : ['plain'];
}

/** Reads the command line. */
export function readOptions(): Options {
  const { values } = readFlags(HELP, {
    only: { type: 'string' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '5' },
    'warm-up': { type: 'string', default: '90' },
    minutes: { type: 'string', default: '1' },
    keys: { type: 'string', default: '5000,100000' },
    streams: { type: 'string', default: '512' },
    stalled: { type: 'string', default: '1000' },
    leaving: { type: 'string', default: '1000' },
    peer: { type: 'string', multiple: true, default: [] },
    against: { type: 'string' },
    json: { type: 'string' },
    markdown: { type: 'string' },
    'write-docs': { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
  });
  return {
    seconds: numberOf('seconds', values.seconds, 1),
    rounds: numberOf('rounds', values.rounds, 1),
    warmUpSeconds: numberOf('warm-up', values['warm-up'], 0),
    minutes: numberOf('minutes', values.minutes, 0.1),
    groups: groupsOf(values.only, defaultGroups(values)),
    keys: values.keys.split(',').map((text) => numberOf('keys', text, 1)),
    streams: numberOf('streams', values.streams, 1),
    stalledReaders: numberOf('stalled', values.stalled, 1),
    leaving: numberOf('leaving', values.leaving, 1),
    peers: values.peer.map(peerOf),
    against: values.against ?? null,
    jsonFile: values.json ?? null,
    markdownFile: values.markdown ?? null,
    writesDocs: values['write-docs'],
    profile: values.profile,
  };
}
