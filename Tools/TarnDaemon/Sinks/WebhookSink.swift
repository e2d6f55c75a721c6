import CDaemon
import Foundation
import Tarn
import TarnStore
import ToolSupport

/// Posts each batch to a URL, as one body or several.
///
/// A repeated request has the same `Idempotency-Key` and the same body: the end of a range is made
/// durable before it is first sent, and the cursor keeps old values.
final class WebhookSink: RefusableSink {
  /// Answers of the client's kind that another attempt may change: a time-out, too early, too many.
  private static let passing: Set = [408, 425, 429]
  /// A receiver may ask for no longer pause.
  private static let retryAfterMax = Duration.seconds(3_600)

  let slots: Slots?
  let repeatsExactly = true
  private let settings: WebhookSettings
  private let client: HTTPClient

  init(_ settings: WebhookSettings, _ slots: Slots) {
    self.settings = settings
    self.slots = slots
    client = HTTPClient()
  }

  func stop() { client.cancel() }

  func deliver(_ delivery: Delivery) throws(DeliveryFailure) {
    // A request that is repeated has the same body, whether its first answer came or not.
    let line = delivery.lines(limit: settings.bodyBytes, isRepeated: delivery.isAfterRefusal)
    let secret = try secret()
    var part = 1
    var next = try readingBatch(line.nextLine)
    while let body = next {
      let (index, items) = line.lineItems
      next = try readingBatch(line.nextLine)
      let isOnly = part == 1 && next == nil
      do throws(DeliveryFailure) {
        try post(body, key: delivery.keys.key(of: delivery, part: part, isOnly: isOnly), secret)
      } catch {
        var failure = error
        failure.refusal?.part = SentPart(line: index, items: items, number: part)
        throw failure
      }
      part += 1
    }
  }

  var partBytesMax: Int { settings.bodyBytes }

  func deliver(_ part: ObjectPart, of delivery: Delivery) throws(DeliveryFailure) {
    try post(part.bytes, key: delivery.keys.key(of: delivery, part.place), secret())
  }

  func tryOut(_ line: [UInt8], of watch: WatchSettings) throws(DeliveryFailure) -> String {
    try post(line, key: "try-\(UUID().uuidString.lowercased())", secret())
    return "\(place) took it"
  }

  private func secret() throws(DeliveryFailure) -> [UInt8]? {
    try Self.reading { () throws(ToolError) in try settings.secret?.read() }
  }

  private static func reading<R>(
    _ body: () throws(ToolError) -> R
  ) throws(DeliveryFailure) -> R {
    do throws(ToolError) {
      return try body()
    } catch {
      throw DeliveryFailure(description: "\(error)")
    }
  }

  private func post(
    _ body: [UInt8], key: String, _ secret: [UInt8]?
  ) throws(DeliveryFailure) {
    let secretHeaders = try Self.reading { () throws(ToolError) in
      try settings.secretHeaders.map { header throws(ToolError) in try header.line() }
    }
    let headers = WebhookHeaders.lines(
      settings.headers + secretHeaders, key: key,
      signature: secret.map { "sha256=\(HTTPClient.signature(of: body, $0))" })
    let url = try Self.reading { () throws(ToolError) in try settings.readURL() }
    let answer: HTTPClient.Answer
    do {
      answer = try client.perform(
        HTTPClient.Request(
          url: url, headers: headers, body: body, timeout: settings.timeout,
          certificates: settings.certificates, isSecret: settings.urlSource != nil))
    } catch {
      throw DeliveryFailure(description: "\(place): \(error)")
    }
    guard !(200..<300).contains(answer.status) else { return }
    var text = "\(place) answered \(answer.status)"
    if let wait = answer.retryAfter, wait > Self.retryAfterMax {
      text += " and asks to wait \(wait.components.seconds) s, of which the daemon waits an hour"
    }
    throw DeliveryFailure(
      description: text, retryAfter: answer.retryAfter.map { min($0, Self.retryAfterMax) },
      refusal: Self.refusal(answer))
  }

  /// Nil if the answer is about the receiver, which asks to wait, and not about the request.
  private static func refusal(_ answer: HTTPClient.Answer) -> Refusal? {
    if [429, 503].contains(answer.status), answer.retryAfter != nil { return nil }
    return Refusal(
      isFinal: (400..<500).contains(answer.status) && !passing.contains(answer.status),
      code: answer.status, answer: String(decoding: answer.body, as: UTF8.self))
  }

  /// The URL without its path and query, which may have a secret; nothing of one that is a secret.
  private var place: String {
    guard settings.urlSource == nil, let parts = URLComponents(string: settings.url),
      let host = parts.host
    else { return "the server" }
    return host + (parts.port.map { ":\($0)" } ?? "")
  }
}
