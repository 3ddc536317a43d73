import type { BillingMode } from '@gateway/contracts';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const compressed = promisify(gzip);

/** One file of the reference, read and compressed when it is first asked for. */
export class ReferenceFile {
  private bytes: Promise<{ plain: Buffer; gzip: Buffer }> | null = null;

  constructor(
    readonly type: string,
    private readonly read: () => Promise<Buffer>,
  ) {}

  /** Throws where it cannot be read, and reads it anew the next time. */
  content(): Promise<{ plain: Buffer; gzip: Buffer }> {
    this.bytes ??= this.load();
    return this.bytes;
  }

  private async load(): Promise<{ plain: Buffer; gzip: Buffer }> {
    try {
      const plain = await this.read();
      return { plain, gzip: await compressed(plain) };
    } catch (failure) {
      this.bytes = null;
      throw failure;
    }
  }
}

/** The page is ours and what it loads stands beside it: nothing comes from another host, and nothing is inline. */
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Model Gateway API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<main id="reference"></main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

/** Script without a validator, which would be a foreign host. */
const START = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: -1,
  filter: true,
  validatorUrl: null,
});
`;

/** Paths of the wallet: none where billing is off. */
const WALLET = ['/v1/billing/', '/v1/admin/credits', '/v1/admin/coupons'];

interface OpenApi {
  paths: Record<string, unknown>;
  components?: { schemas?: Record<string, unknown> };
}

/** Returns the document without the wallet's paths, and without the schemas that they alone name. */
function withoutWallet(document: Buffer): Buffer {
  const whole = JSON.parse(document.toString('utf8')) as OpenApi;
  const all = Object.entries(whole.paths);
  const paths = Object.fromEntries(all.filter(([path]) => !WALLET.some((of) => path.startsWith(of))));
  const components = whole.components && {
    ...whole.components,
    schemas: namedBy(paths, whole.components.schemas ?? {}),
  };
  return Buffer.from(JSON.stringify({ ...whole, paths, ...(components && { components }) }));
}

/** Returns the schemas that the paths name, themselves or by another schema. */
function namedBy(paths: unknown, schemas: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const named = new Set<string>();
  const waiting: unknown[] = [paths];
  for (const part of waiting)
    for (const [, name] of JSON.stringify(part ?? null).matchAll(/#\/components\/schemas\/([\w.-]+)/g))
      if (!named.has(name)) {
        named.add(name);
        waiting.push(schemas[name]);
      }
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => named.has(name)));
}

/** Files by their paths. */
export function referenceFiles(document: string, billing: BillingMode): ReadonlyMap<string, ReferenceFile> {
  const library = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const own = (type: string, text: string) => new ReferenceFile(type, async () => Buffer.from(text));
  const file = (type: string, path: string) => new ReferenceFile(type, () => readFile(path));
  return new Map([
    [
      '/openapi.json',
      new ReferenceFile('application/json; charset=utf-8', async () => {
        const bytes = await readFile(document);
        return billing === 'off' ? withoutWallet(bytes) : bytes;
      }),
    ],
    ['/docs', own('text/html; charset=utf-8', PAGE)],
    ['/docs/start.js', own('text/javascript; charset=utf-8', START)],
    ['/docs/swagger-ui.css', file('text/css; charset=utf-8', join(library, 'swagger-ui.css'))],
    [
      '/docs/swagger-ui-bundle.js',
      file('text/javascript; charset=utf-8', join(library, 'swagger-ui-bundle.js')),
    ],
  ]);
}
