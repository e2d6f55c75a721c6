internal import Glibc
import TarnStore

/// Looks up the addresses of a host on a separate thread: the system's call cannot be cancelled,
/// and takes long if no name server answers.
enum HostLookup {
  private final class Answer: Sendable {
    let done: OnceSignal
    let result = Lock(Result<[String], LookupFailure>.failure(LookupFailure(message: "")))

    init() throws(StorageError) { done = try OnceSignal() }
  }

  struct LookupFailure: Error {
    let message: String
  }

  /// - Returns: numeric addresses; nil to leave the lookup to libpq, because the process cannot
  ///   have another thread or descriptor.
  static func addresses(
    of host: String, _ wait: SocketWait, until end: ContinuousClock.Instant?
  ) -> Result<[String], LookupFailure>? {
    guard let answer = try? Answer(),
      BackgroundThread.start(
        "tarn-lookup",
        {
          BackgroundThread.rest {
            let found = Self.found(host)
            answer.result.withLock { $0 = found }
          }
          answer.done.raise()
        })
    else { return nil }
    switch wait.wait(for: POLLIN, on: answer.done.descriptor, until: end) {
    case .ready: return answer.result.withLock { $0 }
    case .late: return .failure(LookupFailure(message: "no name server answered in time"))
    case .stopped: return .failure(LookupFailure(message: "the session ends"))
    }
  }

  private static func found(_ host: String) -> Result<[String], LookupFailure> {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var first: UnsafeMutablePointer<addrinfo>?
    let status = unsafe getaddrinfo(host, nil, &hints, &first)
    guard status == 0 else {
      let reason = unsafe gai_strerror(status).map { unsafe String(cString: $0) }
      return .failure(
        LookupFailure(
          message: "could not translate host name \"\(host)\" to address: \(reason ?? "")"))
    }
    defer { unsafe freeaddrinfo(first) }
    var texts: [String] = []
    var next = unsafe first
    while let one = unsafe next {
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let size = socklen_t(text.count)
      let isNamed = unsafe getnameinfo(
        one.pointee.ai_addr, one.pointee.ai_addrlen, &text, size, nil, 0, NI_NUMERICHOST)
      if isNamed == 0 {
        texts.append(String(decoding: text.prefix { $0 != 0 }.map { UInt8($0) }, as: UTF8.self))
      }
      unsafe next = one.pointee.ai_next
    }
    return .success(texts)
  }
}
