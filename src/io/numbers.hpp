#pragma once

#include <cstdint>
#include <string_view>

namespace pnmf::io {

/// The whole of `text`, spaces around it aside, as a number: decimal, with or without exponent, nan and inf
/// in any case. False when it is anything else, also when it is empty.
bool parse_number(std::string_view text, double& value);

/// Without spaces, tabs and '\r' at both ends.
std::string_view trim(std::string_view text);

/// The piece of text where a parser stopped, short enough for a message: up to the next space.
std::string_view word_at(std::string_view text, std::size_t longest = 24);

/// Reads numbers one after another from text that ends with '\n', as fast as they come.
class NumberCursor {
  public:
    explicit NumberCursor(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

    const char* position() const { return at_; }
    bool done() const { return at_ == end_; }
    void advance() { ++at_; }

    /// Passes over spaces, tabs and '\r'; true when something else than the end of the line follows.
    bool more_on_line() {
        while (*at_ == ' ' || *at_ == '\t' || *at_ == '\r') {
            ++at_;
        }
        return *at_ != '\n';
    }

    /// Digits up to a space or the end of the line; false when there is anything else or the number has over
    /// 18 digits.
    bool whole(std::int64_t& value) {
        const char* const begin = at_;
        std::int64_t sum = 0;
        while (*at_ >= '0' && *at_ <= '9' && at_ - begin < 18) { // all of 18 digits fit into 64 bits
            sum = 10 * sum + (*at_ - '0');
            ++at_;
        }
        value = sum;
        return at_ != begin && at_space();
    }

    /// A number up to a space or the end of the line.
    bool real(double& value) {
        const char* const begin = at_;
        std::int64_t sum = 0;
        while (*at_ >= '0' && *at_ <= '9' && at_ - begin < 16) {
            sum = 10 * sum + (*at_ - '0');
            ++at_;
        }
        // Up to fifteen digits are exact in a double; everything else takes the general way.
        if (at_ != begin && at_ - begin < 16 && at_space()) {
            value = static_cast<double>(sum);
            return true;
        }
        at_ = begin;
        return general(value);
    }

  private:
    bool at_space() const { return *at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r'; }
    bool general(double& value);

    const char* at_;
    const char* end_;
};

} // namespace pnmf::io
