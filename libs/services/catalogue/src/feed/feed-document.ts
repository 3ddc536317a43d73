import { createHash } from 'node:crypto';
import { plainToInstance } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsInt,
  IsISO8601,
  IsObject,
  Max,
  Min,
  ValidateNested,
  validateSync,
  type ValidationError,
} from 'class-validator';
import { Type } from 'class-transformer';
import { ImportedModelBody, ImportedProviderBody } from '@gateway/contracts';
import { SeedBrand, type SeedModel } from '../seed/seed-record.js';
import { seedOfBody } from '../seed/seed-of-body.js';
import { referenceFaults } from '../seed/read-seed.js';
import { FeedRefused } from '../signed/envelope.js';

/** Clock difference that is let pass between who signs and who reads. */
const AHEAD_MAX_MS = 10 * 60_000;

class FeedPayload {
  @IsInt() @Min(1) @Max(Number.MAX_SAFE_INTEGER) version!: number;
  @IsISO8601({ strict: true }) created_at!: string;
  @IsArray() @ArrayMaxSize(1_000) @ValidateNested({ each: true }) @Type(() => SeedBrand) brands!: SeedBrand[];
  @IsArray()
  @ArrayMaxSize(1_000)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => ImportedProviderBody)
  providers!: ImportedProviderBody[];
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(10_000)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => ImportedModelBody)
  models!: ImportedModelBody[];
}

/** A catalogue as a document has it. */
export interface FeedDocument {
  version: number;
  /** ISO 8601. */
  createdAt: string;
  /** SHA-256 of the payload. */
  digest: string;
  brands: SeedBrand[];
  providers: ImportedProviderBody[];
  models: SeedModel[];
}

/** Reads a payload whose signature fits. Throws FeedRefused. */
export function readFeedDocument(payload: Uint8Array, nowMs: number): FeedDocument {
  const parsed = jsonOf(payload);
  const body = plainToInstance(FeedPayload, parsed);
  const faults = validateSync(body, { whitelist: true, forbidUnknownValues: true });
  const [head] = faults.filter(({ property }) => property !== 'models');
  if (head !== undefined) throw new FeedRefused('payload', `The document has a fault: ${textOf(head)}.`);
  if (Date.parse(body.created_at) > nowMs + AHEAD_MAX_MS)
    throw new FeedRefused(
      'time',
      `The document is dated ${body.created_at}, which is ahead of the clock here.`,
    );
  if (faults.length > 0) throw new FeedRefused('model', `A model has a fault: ${textOf(faults[0], body)}.`);
  const { version, created_at: createdAt, brands, providers } = body;
  const models = body.models.map((model) => seedOfBody(model, createdAt.slice(0, 10)));
  const [fault] = referenceFaults({ brands, providers, models });
  if (fault !== undefined)
    throw new FeedRefused('model', `${fault.model} has a fault at ${fault.loc.join('.')}: ${fault.msg}.`);
  const digest = createHash('sha256').update(payload).digest('hex');
  return { version, createdAt, digest, brands, providers, models };
}

function jsonOf(payload: Uint8Array): object {
  try {
    const value: unknown = JSON.parse(Buffer.from(payload).toString('utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Told below.
  }
  throw new FeedRefused('payload', 'The payload of the document is no JSON object.');
}

function textOf(fault: ValidationError, body?: FeedPayload): string {
  const path: string[] = [];
  let at: ValidationError | undefined = fault;
  let words = '';
  while (at !== undefined) {
    path.push(at.property);
    words = Object.values(at.constraints ?? {})[0] ?? words;
    at = at.children?.[0];
  }
  const id: unknown = path[0] === 'models' ? body?.models[Number(path[1])]?.id : undefined;
  return `${typeof id === 'string' ? `${id}: ` : ''}${path.join('.')} ${words}`;
}
