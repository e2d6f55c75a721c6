/// Why a consumer must start over. The raw values are stored in files.
package enum FeedReason: UInt8, Sendable, CaseIterable {
  case snapshot = 1
  case expired = 2
  case unreadable = 3
  case restored = 4
  case schema = 5
  case selection = 6
}
