import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { CatalogueNames, CatalogueNamesBody, type CatalogueNamed } from '@gateway/contracts';
import { Access } from '@gateway/platform';

/** The keys service asks here before it stores a name; `/internal` is never forwarded from outside. */
@Controller('internal/catalogue')
export class NamesController {
  constructor(private readonly names: CatalogueNames) {}

  @Post('unknown')
  @HttpCode(200)
  @Access({ internal: true })
  unknown(@Body() named: CatalogueNamesBody): Promise<CatalogueNamed> {
    return this.names.unknown(named);
  }
}
