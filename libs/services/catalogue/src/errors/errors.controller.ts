import { Controller, Get } from '@nestjs/common';
import { Access } from '@gateway/platform';
import { errorCatalogue, type ErrorCatalogue } from './error-catalogue.js';

@Controller('v1/errors')
export class ErrorsController {
  private readonly catalogue = errorCatalogue();

  /** Lists every error code, and what to do about it. */
  @Get()
  @Access({ key: true, session: true })
  read(): ErrorCatalogue {
    return this.catalogue;
  }
}
