/// The queries of a replicator's subscriptions: their conditions, and the reason if the server
/// refuses them.
struct ReplicatorQueries {
  static let operation = "subscribe"
  /// How long to wait before the server is asked again about queries that it has refused.
  private static let retry = Duration.seconds(60)

  /// The conditions of queries. Those of others are read from their texts.
  var conditions: [KeptQuery: SQLCondition] = [:]
  /// Why the server cannot evaluate the subscriptions; the former ones stay in effect.
  private(set) var refusal: ServerError?
  private var refusedAt = ContinuousClock.now
  /// Whether the file records that the subscriptions have failed.
  var hasFailed = false

  init() {}

  init(_ set: SubscriptionSet?) {
    if case .failed? = set?.state { hasFailed = true }
  }

  mutating func refuse(_ error: ServerError) { (refusal, refusedAt) = (error, .now) }

  var isRefusalOld: Bool { refusal != nil && refusedAt + Self.retry < .now }

  /// The condition for the rows that any of some queries selects; nil for all rows.
  func condition(_ queries: some Sequence<KeptQuery>) throws(ServerError) -> SQLCondition? {
    let all = queries.sorted()
    if all.contains(.everything) { return nil }
    var parts: [SQLCondition] = []
    for query in all {
      guard let part = conditions[query] ?? query.condition else {
        throw ServerError(
          Self.operation, "a query of the file cannot be read", detail: query.text,
          hint: "Change the subscriptions.")
      }
      parts.append(part)
    }
    return parts.isEmpty ? "false" : "(\(SQLCondition.joined(parts, " OR ")))"
  }
}
