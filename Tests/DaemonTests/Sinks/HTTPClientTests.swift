import Foundation
import Testing
import ToolSupport

@testable import TarnDaemon

/// Requests of several sinks to one host.
@Suite struct HTTPClientTests {
  private let server: ChildProcess
  private let port: String

  init() throws {
    let script = try #require(
      Bundle.module.url(
        forResource: "by_connection", withExtension: "py", subdirectory: "Resources"))
    server = try ChildProcess("python3", [script.path])
    port = try #require(server.line { _ in true })
  }

  private func post(_ path: String) throws -> (status: Int, text: String) {
    let answer = try HTTPClient().perform(
      .init(url: "http://127.0.0.1:\(port)\(path)", body: [], timeout: .seconds(60)))
    return (answer.status, String(decoding: answer.body, as: UTF8.self))
  }

  @Test func `a request is not sent on a connection of another URL`() throws {
    #expect(try post("/taken").status == 204)
    #expect(try post("/refused").status == 500)
    #expect(try post("/taken").status == 204)
  }

  @Test func `requests to one URL use one connection`() throws {
    #expect(try (1...3).map { _ in try post("/refused").text } == ["1", "2", "3"])
  }
}
