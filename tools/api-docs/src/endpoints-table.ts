import {
  EMBEDDINGS_DIALECTS,
  IMAGES_DIALECTS,
  MODERATIONS_DIALECTS,
  REALTIME_DIALECTS,
  RERANK_DIALECTS,
  SEARCH_DIALECTS,
  SPEECH_DIALECTS,
  TEXT_DIALECTS,
  TRANSCRIPTIONS_DIALECTS,
  VIDEO_DIALECTS,
} from '@gateway/dialects';
import { PROVIDERS, type Provider } from '@gateway/providers';
import { markdownTable } from './markdown-table.js';

/** Endpoints that one family of dialects serves. */
interface Column {
  /** Word for it at the head of a column. */
  readonly name: string;
  readonly paths: readonly string[];
  readonly isServedBy: (provider: Provider) => boolean;
}

const speaks =
  (dialects: ReadonlyMap<string, unknown>) =>
  (provider: Provider): boolean =>
    provider.dialects.some((dialect) => dialects.has(dialect));

const COLUMNS: readonly Column[] = [
  {
    name: 'text',
    paths: ['/v1/chat/completions', '/v1/messages', '/v1/responses'],
    isServedBy: speaks(TEXT_DIALECTS),
  },
  { name: 'embeddings', paths: ['/v1/embeddings'], isServedBy: speaks(EMBEDDINGS_DIALECTS) },
  { name: 'images', paths: ['/v1/images/generations'], isServedBy: speaks(IMAGES_DIALECTS) },
  { name: 'speech', paths: ['/v1/audio/speech'], isServedBy: speaks(SPEECH_DIALECTS) },
  {
    name: 'transcription',
    paths: ['/v1/audio/transcriptions'],
    isServedBy: speaks(TRANSCRIPTIONS_DIALECTS),
  },
  { name: 'video', paths: ['/v1/video/generations'], isServedBy: speaks(VIDEO_DIALECTS) },
  { name: 'realtime', paths: ['/v1/realtime'], isServedBy: speaks(REALTIME_DIALECTS) },
  { name: 'search', paths: ['/v1/web/search'], isServedBy: speaks(SEARCH_DIALECTS) },
  { name: 'rerank', paths: ['/v1/rerank'], isServedBy: speaks(RERANK_DIALECTS) },
  { name: 'moderation', paths: ['/v1/moderations'], isServedBy: speaks(MODERATIONS_DIALECTS) },
  { name: 'own batches', paths: ['/v1/batches'], isServedBy: ({ batches }) => batches !== undefined },
];

const BEGIN = '<!-- endpoints: written by npm run docs:generate -->';
const END = '<!-- end of endpoints -->';

/** Every provider of the release; the built-in simulated ones are left out. */
export const REAL_PROVIDERS: readonly Provider[] = PROVIDERS.filter(
  ({ slug }) => !slug.startsWith('simulated'),
);

/** A column for each kind of endpoint and a row for each provider, as Markdown. */
export function endpointMatrix(providers: readonly Provider[] = REAL_PROVIDERS): string {
  const head = ['provider', ...COLUMNS.map(({ name }) => name)];
  const rows = providers.map((provider) => [
    provider.name,
    ...COLUMNS.map((column) => (column.isServedBy(provider) ? '✓' : '')),
  ]);
  return markdownTable(head, rows, { isCentred: true });
}

/** Returns the page with its table of endpoints and their providers made anew. Throws where it has no place for one. */
export function withEndpoints(page: string, providers: readonly Provider[] = REAL_PROVIDERS): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin === -1 || end < begin)
    throw new Error(`No place for the table: ${BEGIN} and ${END} are missing.`);
  const rows = COLUMNS.map(({ paths, isServedBy }) => [
    paths.map((path) => `\`${path}\``).join(' '),
    providers
      .filter(isServedBy)
      .map(({ name }) => name)
      .join(', '),
  ]);
  const lines = markdownTable(['endpoint', 'providers'], rows);
  return `${page.slice(0, begin)}${BEGIN}\n${lines}${page.slice(end)}`;
}
