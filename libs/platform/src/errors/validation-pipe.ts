import { ValidationPipe, type ValidationError } from '@nestjs/common';
import { ApiError, type ErrorDetail } from '@gateway/contracts';

/** Checks management bodies and queries against their class; an unknown field is refused by its name. */
export function validationPipe(): ValidationPipe {
  return new ValidationPipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    validationError: { target: false, value: false },
    exceptionFactory: (errors) => validationFailure(errors),
  });
}

/** class-validator's findings as the envelope's details. `root` begins the loc, for example "query". */
export function validationFailure(errors: readonly ValidationError[], root: string[] = []): ApiError {
  const details = errors.flatMap((error) => detailsOf(error, root));
  const [first] = details;
  return new ApiError('validation_error', {
    message: first === undefined ? undefined : `${first.loc.join('.')}: ${first.msg}`,
    details,
  });
}

function detailsOf(error: ValidationError, parent: (string | number)[]): ErrorDetail[] {
  const loc = [...parent, /^\d+$/.test(error.property) ? Number(error.property) : error.property];
  const own = Object.entries(error.constraints ?? {}).map(([type, msg]) => ({ ...named(type, msg), loc }));
  return [...own, ...(error.children ?? []).flatMap((child) => detailsOf(child, loc))];
}

function named(constraint: string, msg: string): Pick<ErrorDetail, 'type' | 'msg'> {
  if (constraint === 'whitelistValidation') return { type: 'unknown_field', msg: 'This field is not known.' };
  return { type: constraint.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), msg };
}
