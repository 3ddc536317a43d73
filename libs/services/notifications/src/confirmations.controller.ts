import { Controller, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiError, ConfirmQuery, type ChannelRecord } from '@gateway/contracts';
import { Access, type HtmlText } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ChannelsService } from './channels/channels.service.js';
import { WRITE_ALERTS } from './orgs/alert-org.js';
import { askPage, DEAD_LINK, deadPage, donePage, PAGE_HEADERS } from './confirmations/confirmation-page.js';
import { ConfirmationsService } from './confirmations/confirmations.service.js';

/** The recipient's side of an e-mail channel: who has the link is who reads the mailbox. */
@Controller('alerts')
export class ConfirmationsController {
  constructor(
    private readonly confirmations: ConfirmationsService,
    private readonly channels: ChannelsService,
  ) {}

  /** Mails the confirmation link of an e-mail channel again. */
  @Post('channels/:id/verify')
  @HttpCode(200)
  @Access(WRITE_ALERTS)
  verify(@Param('id') id: string, @Req() request: FastifyRequest): Promise<ChannelRecord> {
    return this.channels.mailConfirmation(request, id);
  }

  /** Shows the page of a confirmation link. It confirms nothing: what opens links in mail to look at them must not. */
  @Get('confirm')
  @Access({ public: true })
  ask(@Query() _query: ConfirmQuery, @Res({ passthrough: true }) reply: FastifyReply): HtmlText {
    void reply.headers(PAGE_HEADERS);
    return askPage();
  }

  /**
   * Confirms an e-mail channel. A page to browsers, JSON to everybody else. Throws ApiError `not_found`, whose
   * `details` say what is wrong with the link.
   */
  @Post('confirm')
  @HttpCode(200)
  @Access({ public: true })
  async confirm(
    @Query() { token }: ConfirmQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<HtmlText | { confirmed: true }> {
    const state = await this.confirmations.confirm(token);
    const isBrowser = (request.headers.accept ?? '').includes('text/html');
    if (isBrowser) {
      void reply.code(state === 'confirmed' ? 200 : 404).headers(PAGE_HEADERS);
      return state === 'confirmed' ? donePage() : deadPage(state);
    }
    if (state === 'confirmed') return { confirmed: true };
    throw new ApiError('not_found', {
      message: 'This link no longer works.',
      details: [{ type: `link_${state}`, loc: ['token'], msg: DEAD_LINK[state] }],
    });
  }
}
