import { IsString, Matches } from 'class-validator';

/** Query of GET /objects/{kind}/{owner}/{name}, as the gateway signed it. */
export class ObjectLinkQuery {
  /** Instant at which the link expires. */
  @IsString() @Matches(/^\d{1,12}$/) expires!: string;
  /** Signature of the gateway over the link. */
  @IsString() @Matches(/^[\w-]{43}$/) signature!: string;
}
