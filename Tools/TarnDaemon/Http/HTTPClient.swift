import CDaemon
import Foundation
import TarnStore
import ToolSupport

/// Sends requests. All clients of the process share connections, which are kept for further
/// requests to the same URL: as many as were used at the same time. Requests to other URLs of a
/// host do not use them: a receiver that sends more than one answer to a request would answer for
/// others. Any thread.
final class HTTPClient: Sendable {
  struct Request {
    var url: String
    var socketPath: String?
    var headers: [String] = []
    /// Nil for GET.
    var body: [UInt8]?
    var timeout: Duration
    var certificates: String?
    /// Whether proxies that the environment names are left out.
    var isDirect = false
    /// Whether errors must have nothing of the URL.
    var isSecret = false
  }

  struct Answer {
    let status: Int
    let retryAfter: Duration?
    let body: [UInt8]
  }

  // C objects: connections are used by one request at a time, and an atomic protects a wish to
  // stop.
  private struct Handle: @unchecked Sendable {  // because: see above
    let pointer: OpaquePointer
  }

  private struct Idle {
    /// The URL of the last request.
    let url: String
    let socketPath: String?
    let client: Handle
  }

  /// So many connections are kept.
  private static let idleMax = 64
  private static let idle = Lock<[Idle]>([])

  private static let connectMilliseconds = 10_000

  private let stop: Handle?

  init() { stop = tarn_cancel_new().map { Handle(pointer: $0) } }

  deinit {
    if let stop { tarn_cancel_free(stop.pointer) }
  }

  /// Ends the request that is running, and all later ones.
  func cancel() {
    if let stop { tarn_cancel_now(stop.pointer) }
  }

  private static func take(for request: Request) -> Handle? {
    let found = idle.withLock { idle in
      idle.lastIndex { $0.url == request.url && $0.socketPath == request.socketPath }
        .map { idle.remove(at: $0).client }
    }
    return found ?? tarn_client_new().map { Handle(pointer: $0) }
  }

  private static func give(_ client: Handle, of request: Request) {
    let given = Idle(url: request.url, socketPath: request.socketPath, client: client)
    let oldest = idle.withLock { idle in
      idle.append(given)
      return idle.count > idleMax ? idle.removeFirst() : nil
    }
    if let oldest { tarn_client_free(oldest.client.pointer) }
  }

  /// - Parameter most: how many bytes of the answer are kept.
  /// - Throws: `ToolError` if there is no answer.
  func perform(_ request: Request, keeping most: Int = 4_096) throws -> Answer {
    guard let client = Self.take(for: request), let stop else {
      throw ToolError("there is no memory left")
    }
    defer { Self.give(client, of: request) }
    var response = tarn_response()
    let isAnswered = Self.with(request) {
      tarn_client_perform(client.pointer, &$0, stop.pointer, most, &response)
    }
    let body = response.text.map { text in
      text.withMemoryRebound(to: UInt8.self, capacity: response.length) {
        Array(UnsafeBufferPointer(start: $0, count: response.length))
      }
    }
    guard isAnswered else {
      throw ToolError(String(decoding: body ?? [], as: UTF8.self))
    }
    return Answer(
      status: response.status,
      retryAfter: response.retry_after < 0 ? nil : .seconds(response.retry_after),
      body: body ?? [])
  }

  private static func with(_ request: Request, _ perform: (inout tarn_request) -> Bool) -> Bool {
    let lines = request.headers.map { strdup($0) }
    let texts = [request.url, request.socketPath, request.certificates].map {
      $0.map { strdup($0)! }
    }
    defer { for text in lines + texts { free(text) } }
    let pointers = lines.map { UnsafePointer<CChar>($0) } + [nil]
    return pointers.withUnsafeBufferPointer { headers in
      (request.body ?? []).withUnsafeBytes { body in
        var made = tarn_request()
        made.url = UnsafePointer(texts[0])
        made.socket_path = UnsafePointer(texts[1])
        made.certificates = UnsafePointer(texts[2])
        made.headers = headers.baseAddress
        made.body = request.body == nil ? nil : body.baseAddress
        made.length = body.count
        made.is_direct = request.isDirect
        made.is_secret = request.isSecret
        made.connect_milliseconds = connectMilliseconds
        made.milliseconds = Int(
          request.timeout.components.seconds * 1000
            + request.timeout.components.attoseconds / 1_000_000_000_000_000)
        return perform(&made)
      }
    }
  }

  /// The HMAC-SHA256 of a body, in hexadecimal digits.
  static func signature(of body: [UInt8], _ key: [UInt8]) -> String {
    var sum = [UInt8](repeating: 0, count: 32)
    tarn_hmac(key, key.count, body, body.count, &sum)
    return sum.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}
