import { IsString, Matches } from 'class-validator';

/** Query of GET /objects/{kind}/{owner}/{name}, as the gateway signed it. */
export class ObjectLinkQuery {
  /** Until when the link is good. */
  @IsString() @Matches(/^\d{1,12}$/) expires!: string;
  /** What proves that the gateway made the link. */
  @IsString() @Matches(/^[\w-]{43}$/) signature!: string;
}
