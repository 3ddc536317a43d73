import { IsInt, IsString } from 'class-validator';

/** A record that a service could not apply: the record of a topic's dead letters. */
export class DeadLetter {
  /** Who could not apply it. */
  @IsString() service!: string;
  @IsString() reason!: string;
  @IsString() topic!: string;
  @IsInt() partition!: number;
  @IsString() offset!: string;
  /** As it was, at most 100,000 characters of it. */
  @IsString() value!: string;
}
