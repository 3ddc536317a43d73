import { IsString, Matches } from 'class-validator';

/** Query of GET /objects/{kind}/{owner}/{name}, as the gateway signed it. */
export class ObjectLinkQuery {
  @IsString() @Matches(/^\d{1,12}$/) expires!: string;
  @IsString() @Matches(/^[\w-]{43}$/) signature!: string;
}
