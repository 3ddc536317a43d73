import { Controller, Get, Param } from '@nestjs/common';
import { Directory } from '@gateway/contracts';
import { Access } from '@gateway/platform';

/** The notifications service asks here whom to write to; `/internal` is never forwarded from outside. */
@Controller('internal/orgs')
export class OrgOwnersController {
  constructor(private readonly directory: Directory) {}

  @Get(':id/owners')
  @Access({ internal: true })
  async read(@Param('id') id: string): Promise<{ emails: string[] }> {
    return { emails: await this.directory.ownerEmails(id) };
  }
}
