import { IsIn, IsInt, Min } from 'class-validator';
import { LimitScope } from './limit-scope.js';

/** A request rate crosses a percentage of an RPM or RPD limit, at any scope. */
export class RateLimitThreshold extends LimitScope {
  @IsIn(['rpm', 'rpd']) limit_type!: 'rpm' | 'rpd';
  @IsInt() @Min(0) limit!: number;
}
