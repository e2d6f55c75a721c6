import Tarn

/// The `Idempotency-Key` of each request: a repeated request has the same one, and no other has it.
struct RequestKeys {
  /// Identifies the consumer. A cursor is identified by its creation, since its name changes when a
  /// watch is renamed.
  let consumer: String
  /// The form of the requests: with another one, their bodies differ. Empty for that of an earlier
  /// version.
  var form = ""
  /// Whether an earlier version, whose keys named no consumer, began to send the batch.
  var areOfEarlierVersion = false

  /// The key of a part of a batch, which may be its only part. It is ASCII for all names.
  func key(of delivery: Delivery, part: Int, isOnly: Bool) -> String {
    let batch = delivery.batch
    let isFullResync = batch.fullResync != nil
    if areOfEarlierVersion, !delivery.isAfterRefusal {
      let history = batch.position.historyID.uuidString.lowercased()
      let range = "\(history)-\(batch.from)-\(batch.position.version)\(isFullResync ? "-anew" : "")"
      return isOnly ? range : "\(range)-\(part)"
    }
    // A batch that was refused as another, and may have been taken, has another body.
    let again = delivery.isAfterRefusal ? "again/" : ""
    return ShortSum.of(again + facts(delivery, "\(part)"))
  }

  /// The key of one part of a batch that was divided.
  func key(of delivery: Delivery, _ part: SentPart) -> String {
    ShortSum.of("object/" + facts(delivery, "\(part)"))
  }

  private func facts(_ delivery: Delivery, _ part: String) -> String {
    let batch = delivery.batch
    let isFullResync = batch.fullResync != nil
    // Copies of a file have the same cursor.
    return form
      + "\(consumer)/\(batch.from)/\(batch.position)/\(isFullResync)/\(part)/\(delivery.path)"
  }
}

/// A sum of a text that no other text has: 32 hexadecimal digits.
enum ShortSum {
  static func of(_ text: String) -> String {
    String(HTTPClient.signature(of: Array(text.utf8), Array("tarn".utf8)).prefix(32))
  }

  /// A shorter sum of several texts.
  static func short(of texts: [String]) -> String {
    String(of(texts.joined(separator: "\0")).prefix(16))
  }
}
