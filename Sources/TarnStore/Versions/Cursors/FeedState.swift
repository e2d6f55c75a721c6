/// The state of a cursor.
package struct FeedState: Sendable {
  /// The position acknowledged last.
  package var acknowledged: FeedPlace
  /// Why the cursor cannot continue from there; nil if it can.
  package var reason: FeedReason?

  package init(acknowledged: FeedPlace, reason: FeedReason?) {
    self.acknowledged = acknowledged
    self.reason = reason
  }
}
