import { Controller, Get } from '@nestjs/common';
import { VERSIONS, type ApiVersionRecord } from '@gateway/api-version';
import { Access } from '@gateway/platform';

@Controller('v1/api-versions')
export class VersionsController {
  /** Oldest first. */
  @Get()
  @Access({ key: true, session: true })
  list(): readonly ApiVersionRecord[] {
    return VERSIONS;
  }
}
