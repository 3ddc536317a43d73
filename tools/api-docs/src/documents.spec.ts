import { join } from 'node:path';
import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { Access } from '@gateway/platform';
import { Ajv } from 'ajv';
import { IsIn, IsInt, IsISO8601, IsOptional, IsString, Max, ValidateIf } from 'class-validator';
import { asyncApi } from './asyncapi.js';
import { allRoutes, documents } from './documents.js';
import { describedRoutes } from './described-routes.js';
import { openApi } from './openapi.js';
import { SourceTypes } from './source-types.js';

class PlanBody {
  @IsString() name!: string;
  @IsOptional() @IsIn(['a', 'b']) kind?: string | null;
  @ValidateIf((body: PlanBody) => body.title !== undefined) @IsString() title?: string;
  @IsOptional() @IsISO8601() since?: string | null;
}

class PlanQuery {
  /** Number of items. */
  @IsOptional() @IsInt() @Max(200) limit?: number;
}

/** A plan. */
interface PlanRecord {
  name: string;
  /** Steps in their order. */
  steps: { at: 'start' | 'end' | null; size?: number }[];
}

@Controller('v1/plans')
@Access({ session: true })
class PlansController {
  /** Makes a plan. */
  @Post()
  @Access({ key: { permission: 'plans:write' }, adminKey: { scope: 'plans' } })
  async create(@Body() { name }: PlanBody): Promise<PlanRecord | null> {
    return { name, steps: [{ at: 'start', size: 1 }] };
  }

  /** Reads a plan. Of any group. */
  @Get([':slug', ':provider/:slug'])
  @HttpCode(202)
  read(@Query() { limit }: PlanQuery): { limit: number | undefined } {
    return { limit };
  }
}

@Controller('internal/plans')
class FleetController {
  @Get()
  @Access({ internal: true })
  read(): void {
    return undefined;
  }
}

/** Untyped as JSON.parse answers it: what it holds is asserted. */
type Document = ReturnType<JSON['parse']>;

/** Every $ref of a document, and whether it leads somewhere. */
function dangling(document: Document): string[] {
  const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#([^"]+)"/g)].map(([, pointer]) => pointer);
  return refs.filter((pointer) => {
    const found = pointer
      .slice(1)
      .split('/')
      .reduce<Document>((value, part) => value?.[part], document);
    return found === undefined;
  });
}

/** This file too: its controllers are described like those of the services. */
const source = SourceTypes.ofServices(join(process.cwd(), 'tools/api-docs/src/documents.spec.ts'));

describe('openApi', () => {
  const ANSWER = { anyOf: [{ $ref: '#/components/schemas/PlanRecord' }, { type: 'null' }] };
  const document: Document = openApi(describedRoutes('plans', [PlansController, FleetController]), source);

  it('describes a handler by its path, access, status, body and query classes', () => {
    const { post } = document.paths['/v1/plans'];
    expect(post).toMatchObject({
      tags: ['plans'],
      security: [{ apiKey: [] }, { adminKey: ['plans'] }],
      'x-permission': 'plans:write',
      requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/PlanBody' } } } },
      responses: { 201: { content: { 'application/json': { schema: ANSWER } } }, '4XX': {}, '5XX': {} },
      operationId: 'plans_create',
    });
    expect(document.components.schemas.PlanBody).toMatchObject({
      properties: {
        name: { type: 'string' },
        kind: { type: ['string', 'null'], enum: ['a', 'b', null] },
        title: { type: 'string' },
        since: { anyOf: expect.arrayContaining([{ type: 'null' }]) as unknown },
      },
      required: ['name'],
      additionalProperties: false,
    });
    expect(document.components.schemas.PlanRecord).toEqual({
      type: 'object',
      description: 'A plan.',
      required: ['name', 'steps'],
      properties: {
        name: { type: 'string' },
        steps: {
          type: 'array',
          description: 'Steps in their order.',
          items: {
            type: 'object',
            required: ['at'],
            properties: {
              at: { type: ['string', 'null'], enum: ['end', 'start', null] },
              size: { type: 'number' },
            },
          },
        },
      },
    });
    const { get } = document.paths['/v1/plans/{provider}/{slug}'];
    expect(get).toMatchObject({
      operationId: 'plans_readByProviderAndSlug',
      summary: 'Reads a plan',
      description: 'Reads a plan. Of any group.',
      security: [{ session: [] }],
      responses: { 202: {} },
    });
    expect(get.parameters.at(-1)).toMatchObject({ name: 'limit', description: 'Number of items.' });
    const parameters = get.parameters.map((parameter: Document) => [
      parameter.in,
      parameter.name,
      parameter.required,
    ]);
    expect(parameters).toEqual([
      ['header', 'X-Service-Version', false],
      ['path', 'provider', true],
      ['path', 'slug', true],
      ['query', 'limit', false],
    ]);
  });

  it('leaves out what only the fleet may call', () => {
    expect(Object.keys(document.paths).filter((path) => path.startsWith('/internal'))).toEqual([]);
  });

  it('refuses a handler that declares no access', () => {
    class Forgetful {
      read(): void {
        return undefined;
      }
    }
    Get('x')(Forgetful.prototype, 'read', Object.getOwnPropertyDescriptor(Forgetful.prototype, 'read') ?? {});
    Controller('v1')(Forgetful);
    expect(() => describedRoutes('plans', [Forgetful])).toThrow('Forgetful.read declares no access');
  });
});

describe('the documents of the services', () => {
  const openapi: Document = openApi(allRoutes(), source);

  it('name the inference, catalogue and key endpoints, and every reference leads somewhere', () => {
    for (const path of [
      '/v1/chat/completions',
      '/openai/v1/messages',
      '/v1/models',
      '/v1/errors',
      '/v1/keys',
    ])
      expect(Object.keys(openapi.paths)).toContain(path);
    expect(openapi.components.schemas.ChatRequest.required).toEqual(['messages']);
    expect(openapi.components.schemas).toHaveProperty('CreateKeyBody');
    expect(dangling(openapi)).toEqual([]);
  });

  it('have each operation once', () => {
    const routes = allRoutes().map(({ method, path }) => `${method} ${path}`);
    expect(new Set(routes).size).toBe(routes.length);
  });

  it('describe each topic with its record, and its dead letters', () => {
    const document: Document = asyncApi(source);
    expect(Object.keys(document.channels).sort()).toEqual(
      ['account.v1', 'audit.v1', 'catalogue.v1', 'rejections.v1', 'usage.v1', 'usage.v2'].flatMap((name) => [
        `gateway.${name}`,
        `gateway.${name}.dlq`,
      ]),
    );
    expect(document.components.schemas.UsageRecord.required).toContain('request_id');
    expect(document.components.schemas).toHaveProperty('AttemptRecord');
    const { usage, seq, request_tags } = document.components.schemas.UsageRecord.properties;
    expect(usage.properties.cached_tokens).toEqual({
      type: 'number',
      description: "Part of prompt_tokens that was read from the provider's cache.",
    });
    expect(usage).not.toHaveProperty('required');
    expect(request_tags.additionalProperties).toEqual({ type: 'string' });
    expect(seq.description).toContain('gateway.rejections.v1');
    expect(document.channels['gateway.account.v1'].description).toContain('workers');
    expect(dangling(document)).toEqual([]);
  });

  it('describe each account event with the fields of its class', () => {
    const document: Document = asyncApi(source);
    const messages: Document = document.channels['gateway.account.v1'].messages;
    expect(Object.keys(messages)).toHaveLength(22);
    // It is made of the refusals, by the notifications service.
    expect(messages).not.toHaveProperty('SpendCapHit');
    const [, { properties }] = document.components.messages.ApiKeyCreated.payload.properties.data.allOf;
    expect(properties.type).toEqual({ const: 'api_key.created' });
    expect(Object.keys(document.components.schemas.ApiKeyCreated.properties).sort()).toEqual([
      'key_id',
      'label',
      'masked_key',
    ]);
  });

  it('take the records that the event classes take', () => {
    const { schemas } = (asyncApi(source) as Document).components;
    const validate = new Ajv({ strict: false }).compile({
      ...schemas.RejectionRecord,
      components: { schemas },
    });
    const record = {
      request_id: 'req_1',
      created_at: '2026-11-01T00:00:00Z',
      account_id: 'acct_1',
      org_id: null,
      team_id: null,
      member_id: 'usr_1',
      key_id: 'key_1',
      endpoint: '/v1/chat/completions',
      model: null,
      requested_model: null,
      http_status: 429,
      code: 'rate_limit_exceeded',
      message: 'x',
      scope: null,
      scope_id: null,
      limit_type: null,
      cap_usd: null,
      spent_usd: null,
      count: 1,
      request_tags: {},
      producer: 'edge-0',
      epoch: 'e',
      seq: 1,
    };
    expect([validate(record), validate.errors]).toEqual([true, null]);
    expect(validate({ ...record, count: 0 })).toBe(false);
    expect(validate({ ...record, key_id: null })).toBe(false);
  });

  it('are written the same way each time', () => {
    expect([...documents(source)]).toEqual([...documents(source)]);
  });
});
