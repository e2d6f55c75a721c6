/// Notes that a consumer has processed everything up to a position.
package struct CursorAcknowledgement: Hashable, Sendable {
  package var number: UInt32
  /// The epoch of the consumer's hold of the cursor.
  package var epoch: UInt32
  /// The former acknowledged position, as the consumer knows it.
  package var from: FeedPlace
  package var to: FeedPlace

  package init(number: UInt32, epoch: UInt32, from: FeedPlace, to: FeedPlace) {
    self.number = number
    self.epoch = epoch
    self.from = from
    self.to = to
  }
}
