// What /mcp takes from the SDK. The door loads it with its first client: half of the time that a
// window spends on loading us would be the SDK's.
export { createMcpHandler, isLegacyRequest, ProtocolError, Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
