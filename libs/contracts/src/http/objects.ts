import { IsOptional, Matches } from 'class-validator';

/** Message for a link that was shortened on its way. */
export const LINK_NOT_WHOLE = 'This link is not whole: copy it again.';
const NOT_WHOLE = { message: LINK_NOT_WHOLE };

/** Query of GET /objects/{kind}/{owner}/{name}, as the gateway signed it. */
export class ObjectLinkQuery {
  /** Instant at which the link expires. */
  @IsOptional() @Matches(/^\d{1,12}$/, NOT_WHOLE) expires?: string;
  /** Signature of the gateway over the link. */
  @IsOptional() @Matches(/^[\w-]{43}$/, NOT_WHOLE) signature?: string;
}
