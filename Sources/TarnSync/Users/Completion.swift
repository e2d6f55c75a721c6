import Dispatch

/// The forms with completion handlers of asynchronous calls.
enum Completion {
  static func run<R: Sendable>(
    on queue: DispatchQueue? = nil,
    _ completion: @escaping @Sendable (Result<R, any Error>) -> Void,
    _ body: @escaping @Sendable () async throws -> R
  ) {
    Task {
      let result: Result<R, any Error>
      do {
        result = .success(try await body())
      } catch {
        result = .failure(error)
      }
      guard let queue else { return completion(result) }
      queue.async { completion(result) }
    }
  }

  /// For calls without a result.
  static func run(
    on queue: DispatchQueue? = nil, failing completion: @escaping @Sendable ((any Error)?) -> Void,
    _ body: @escaping @Sendable () async throws -> Void
  ) {
    let told: @Sendable (Result<Void, any Error>) -> Void = { result in
      switch result {
      case .success: completion(nil)
      case .failure(let error): completion(error)
      }
    }
    run(on: queue, told, body)
  }
}
