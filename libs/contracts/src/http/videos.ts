import { Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsString, Length, Max, Min } from 'class-validator';

/** Query of GET /v1/video/generations. */
export class VideosQuery {
  @IsOptional() @IsIn(['queued', 'in_progress', 'completed', 'failed']) status?: string;
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) @Max(100) limit: number = 20;
  @IsOptional() @IsString() @Length(1, 128) after?: string;
}
