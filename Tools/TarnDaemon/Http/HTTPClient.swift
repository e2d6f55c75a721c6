import CDaemon
import Foundation
import TarnStore
import ToolSupport

/// Sends requests, one at a time, and keeps the connection. Cancelling is for any thread.
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
  }

  struct Answer {
    let status: Int
    let retryAfter: Duration?
    let body: [UInt8]
  }

  // C objects that libcurl and an atomic protect: the client is used under the lock only.
  private struct Handle: @unchecked Sendable {  // because: see above
    let client: OpaquePointer?
    let cancel: OpaquePointer?
  }

  private static let connectMilliseconds = 10_000

  private let handle: Handle
  private let using = Lock<Void>(())

  init() { handle = Handle(client: tarn_client_new(), cancel: tarn_cancel_new()) }

  deinit {
    if let client = handle.client { tarn_client_free(client) }
    if let cancel = handle.cancel { tarn_cancel_free(cancel) }
  }

  /// Ends the request that is running, and all later ones.
  func cancel() { handle.cancel.map { tarn_cancel_now($0) } }

  /// - Parameter most: how many bytes of the answer are kept.
  /// - Throws: `ToolError` if there is no answer.
  func perform(_ request: Request, keeping most: Int = 4_096) throws -> Answer {
    guard let client = handle.client, let cancel = handle.cancel else {
      throw ToolError("there is no memory left")
    }
    return try using.withLock { _ in
      var response = tarn_response()
      let isAnswered = Self.with(request) {
        tarn_client_perform(client, &$0, cancel, most, &response)
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
