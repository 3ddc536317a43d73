export type Schema = { readonly [keyword: string]: unknown };
export type Schemas = Readonly<Record<string, Schema>>;
export type Access = 'apiKey' | 'session' | 'adminKey';

export interface Operation {
  /** Upper case. */
  method: string;
  /** Path with `{name}` for parameters. */
  path: string;
  query: readonly { name: string; schema: Schema }[];
  body: Schema | null;
  /** Empty where nobody is asked for a credential. */
  access: readonly Access[];
  /** Documented successes. */
  statuses: readonly number[];
}

export interface Api {
  operations: readonly Operation[];
  schemas: Schemas;
}

interface Document {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema> };
}

interface Described {
  parameters?: { name: string; in: string; schema: Schema }[];
  requestBody?: { content: Partial<Record<string, { schema: Schema }>> };
  responses: Record<string, unknown>;
  security: Record<string, unknown>[];
}

/** Every path and method that docs/openapi.json serves. */
export function readApi(text: string): Api {
  const { paths, components } = JSON.parse(text) as Document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]): Operation => {
      const { parameters = [], requestBody, responses, security } = described;
      return {
        method: method.toUpperCase(),
        path,
        query: parameters.filter((parameter) => parameter.in === 'query'),
        body: requestBody?.content['application/json']?.schema ?? null,
        access: security.flatMap((one) => Object.keys(one) as Access[]),
        statuses: Object.keys(responses).map(Number).filter(Number.isInteger),
      };
    }),
  );
  return { operations, schemas: components.schemas };
}

/** True where a path of ours, without its query, is one that the operation serves. */
export function isServedBy({ path }: Operation, pathname: string): boolean {
  const pattern = path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${pattern}/?$`).test(pathname);
}
