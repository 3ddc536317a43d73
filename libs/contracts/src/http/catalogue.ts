import { Transform } from 'class-transformer';
import { IsBoolean, IsIn, IsOptional, Matches } from 'class-validator';
import type { ModelType } from '../catalogue/catalogue-snapshot.js';

export const MODEL_TYPES = [
  'text',
  'embedding',
  'image',
  'audio',
  'tts',
  'stt',
  'video',
] as const satisfies readonly ModelType[];

/** Query of GET /v1/models and /openai/v1/models. */
export class ListModelsQuery {
  /** true: only free models; false: only paid ones; absent: all. */
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (value === 'true' ? true : value === 'false' ? false : value))
  @IsBoolean()
  free?: boolean;

  @IsOptional() @IsIn(MODEL_TYPES) type?: ModelType;

  /** Slug of a provider that serves the model. */
  @IsOptional() @Matches(/^[a-z0-9][a-z0-9-]{0,63}$/) provider?: string;
}
