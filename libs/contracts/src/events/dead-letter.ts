import { IsInt, IsString } from 'class-validator';

/** A record that a service could not apply: the record of a topic's dead letters. */
export class DeadLetter {
  /** Consumer that could not apply the record. */
  @IsString() service!: string;
  @IsString() reason!: string;
  @IsString() topic!: string;
  @IsInt() partition!: number;
  @IsString() offset!: string;
  /** The record unchanged, cut at 100,000 characters. */
  @IsString() value!: string;
}
